import { faultOfHeaderValue } from '../kernel/headervalue.js';
import { whyNotTo } from '../vault/allowedhosts.js';
import type { Vault } from '../vault/vault.js';
import type { Forward } from './render.js';
import type { HookRun } from './run.js';

/** A forward as it is sent, and the secrets to redact in the reply. */
interface Authorized {
  forward: Forward;
  secrets: string[];
}

/**
 * Adds the newest value of its credential to the forward as a bearer token (RFC 6750, section 2.1).
 * The value is added only here: whatever is shown or recorded has only the credential's id. Returns
 * a text that says why the value may not be sent.
 */
export const authorized = async (
  vault: Pick<Vault, 'borrow' | 'used'>,
  { hook }: HookRun,
  forward: Forward,
): Promise<Authorized | string> => {
  const { credentialId } = hook.actionConfig;
  if (credentialId === undefined) return { forward, secrets: [] };
  const loan = await vault.borrow(hook.userId, { id: credentialId });
  if (!loan) return 'The credential of this forward is gone';
  if (loan === 'expired') return 'The credential of this forward has expired: rotate it';
  if (loan === 'damaged') return 'The credential of this forward was damaged: rotate it';
  const reason = whyNotTo(new URL(forward.url), loan);
  if (reason !== null) return reason;
  const value = loan.secret.take((bytes) => bytes.toString());
  if (faultOfHeaderValue(value) !== null) {
    return 'The credential of this forward holds a line break or another character that no header can: rotate it';
  }
  vault.used(loan.id);
  const headers = { ...forward.headers, authorization: `Bearer ${value}` };
  return { forward: { ...forward, headers }, secrets: [value] };
};
