export const loadSenders = async () => {
  const [presets, open, sign, faults, contract] = await Promise.all([
    import('../hooks/senders/presets.js'),
    import('../hooks/senders/open.js'),
    import('../hooks/senders/sign.js'),
    import('../hooks/senders/faults.js'),
    import('../hooks/senders/contract.js'),
  ]);
  const { PRESET_NAMES, PRESETS } = presets;
  const { createSignatureRecipe } = open;
  const { signedRequest, InvalidSigningSecret } = sign;
  const { faultOfSenderSecret } = faults;
  const { TOPIC_ARN } = contract;
  return {
    faultOfSenderSecret,
    PRESET_NAMES,
    PRESETS,
    createSignatureRecipe,
    signedRequest,
    TOPIC_ARN,
    InvalidSigningSecret,
  };
};
