import { randomBytes } from 'node:crypto';
import Boom from '@hapi/boom';
import type { SenderVerification } from './contract.js';
import { faultOfSenderSecret } from './faults.js';
import { createSignatureRecipe } from './open.js';
import type { PresetName } from './presets.js';
import type { SignatureRecipe } from './recipe.js';

const BYTES = 36;

const SENDER_GENERATED = new Set<string>([
  ...(['buildkite', 'discord', 'linear', 'notion', 'pagerduty', 'sentry'] as const),
  ...(['shopify', 'slack', 'stripe', 'twilio', 'vercel', 'zoom'] as const),
] satisfies PresetName[]);

/** See `SignatureRecipe.key`. */
const SECRETS: Record<SecretForm, (random: Buffer) => string> = {
  raw: (random) => random.toString('base64url'),
  base64: (random) => random.toString('base64'),
  whsec: (random) => `whsec_${random.toString('base64')}`,
};
type SecretForm = NonNullable<SignatureRecipe['key']>;

/** Throws 409 if the sender generates the secret, or if it is a public key or a password. */
export const newSenderSecret = (verify: SenderVerification | undefined): string => {
  if (verify === undefined) return randomBytes(BYTES).toString('base64url');
  const preset = typeof verify === 'string' ? verify : verify.preset;
  const isSenderGenerated = preset !== undefined && SENDER_GENERATED.has(preset);
  const { key = 'raw', algorithm } = createSignatureRecipe(verify);
  const secret = SECRETS[key](randomBytes(BYTES));
  const isGenerated = !isSenderGenerated && algorithm !== 'sns';
  if (isGenerated && faultOfSenderSecret(verify, secret) === null) return secret;
  const message =
    'This sender generates the secret itself. Set triggerConfig.webhookSecret instead';
  throw Boom.conflict(message, { code: 'secret_not_ours' });
};
