import { unlessShut } from '../../kernel/envelope.js';
import { type OverlapDeps, oldSecretsOf } from '../../secrets/overlap.js';
import { keySpelt, secretKey } from '../../secrets/standardwebhooks.js';
import type { WebhookRow } from '../../store/tables/outbox.js';
import type { Vault } from '../../vault/vault.js';

export interface KeysDeps extends OverlapDeps {
  vault: Pick<Vault, 'liveValues' | 'used'>;
}

/**
 * Returns the keys that a webhook signs with now, newest first: several while rotations overlap,
 * none if the secret is damaged.
 */
export const keysOf = async (deps: KeysDeps, webhook: WebhookRow): Promise<Buffer[]> => {
  const { openSecret, vault } = deps;
  const { id, credential_id, secret_sealed } = webhook;
  if (credential_id !== null) {
    vault.used(credential_id);
    return (await vault.liveValues(credential_id)).map(({ secret }) => secretKey(secret));
  }
  const own = unlessShut(() => openSecret(id, secret_sealed));
  if (own === null) return [];
  const before = oldSecretsOf(deps, webhook).map(({ secret }) => keySpelt(secret));
  return [secretKey(own), ...before];
};
