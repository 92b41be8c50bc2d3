/**
 * Returns the presets of senders, the recipe of a hook's `verify`, and the signer of a request. They
 * are loaded when they are first needed, as the contracts are.
 */
export const loadSenders = async () => {
  const [presets, open, sign] = await Promise.all([
    import('../hooks/senders/presets.js'),
    import('../hooks/senders/open.js'),
    import('../hooks/senders/sign.js'),
  ]);
  const { PRESET_NAMES, PRESETS } = presets;
  const { recipeOf } = open;
  const { signedRequest, UnfitSecret } = sign;
  return { PRESET_NAMES, PRESETS, recipeOf, signedRequest, UnfitSecret };
};
