/** Returns how senders sign their requests; loaded when it is first needed. */
export const loadSenders = async () => {
  const [{ PRESET_NAMES, PRESETS }, { recipeOf }, { signedRequest, UnfitSecret }] =
    await Promise.all([
      import('../hooks/senders/presets.js'),
      import('../hooks/senders/open.js'),
      import('../hooks/senders/sign.js'),
    ]);
  return { PRESET_NAMES, PRESETS, recipeOf, signedRequest, UnfitSecret };
};
