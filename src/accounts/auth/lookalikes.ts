const library = () => import('unhomoglyph');

/**
 * What two names have in common that look alike (UTS 39, section 4: skeleton), without regard to
 * case: `paypal` and `PaypaI`. The table is loaded on first use.
 */
export const skeletonOf = async (name: string): Promise<string> => {
  const { default: replaced } = await library();
  return replaced(name.normalize('NFKC').normalize('NFD'))
    .normalize('NFD')
    .replace(/\p{DI}/gu, '')
    .toLowerCase();
};
