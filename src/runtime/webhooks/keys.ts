import type { Clock } from '../../kernel/clock.js';
import type { WebhookRow } from '../../store/tables/outbox.js';
import type { Secret } from '../vault/secret.js';
import type { Vault } from '../vault/vault.js';
import { keyOf } from './signing.js';

export interface KeysDeps {
  clock: Clock;
  openSecret(webhookId: string, sealed: string): Secret;
  vault: Pick<Vault, 'liveValues' | 'used'>;
}

/** What a webhook signs with now, the newest first: two while a rotation overlaps. */
export const keysOf = async (
  { clock, openSecret, vault }: KeysDeps,
  webhook: WebhookRow,
): Promise<Buffer[]> => {
  const { id, credential_id, secret_sealed, old_secret_sealed, old_secret_until } = webhook;
  if (credential_id !== null) {
    vault.used(credential_id);
    return (await vault.liveValues(credential_id)).map(({ secret }) => keyOf(secret));
  }
  const isOverlapping = old_secret_until !== null && Date.parse(old_secret_until) > clock.now();
  const sealed = isOverlapping ? [secret_sealed, old_secret_sealed] : [secret_sealed];
  return sealed.flatMap((each) => (each === null ? [] : keyOf(openSecret(id, each))));
};
