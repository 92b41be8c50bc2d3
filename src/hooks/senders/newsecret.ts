import { randomBytes } from 'node:crypto';
import Boom from '@hapi/boom';
import type { SenderVerification } from './contract.js';
import { faultOfSenderSecret } from './faults.js';
import { recipeOf } from './open.js';

const BYTES = 36;

/**
 * Returns a new secret in the form that the sender uses. Throws 409 if only the sender or a person
 * can make one, as a public key, or a name with a password.
 */
export const newSenderSecret = (verify: SenderVerification | undefined): string => {
  if (verify === undefined) return randomBytes(BYTES).toString('base64url');
  const { key, algorithm } = recipeOf(verify);
  const secret = randomBytes(BYTES).toString(key === 'base64' ? 'base64' : 'base64url');
  if (algorithm !== 'sns' && faultOfSenderSecret(verify, secret) === null) return secret;
  const message = 'The secret of this sender is not made here: change triggerConfig.webhookSecret';
  throw Boom.conflict(message, { code: 'secret_not_ours' });
};
