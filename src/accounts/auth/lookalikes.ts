const library = () => import('unhomoglyph');

/**
 * Returns the skeleton that names share if they look alike (UTS 39, section 4), without regard to
 * case: `paypal` and `PaypaI`. The table is loaded on first use.
 */
export const skeletonOf = async (name: string): Promise<string> => {
  const { default: replaced } = await library();
  return replaced(name.normalize('NFKC').normalize('NFD'))
    .normalize('NFD')
    .replace(/\p{DI}/gu, '')
    .toLowerCase();
};
