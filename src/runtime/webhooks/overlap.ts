import type { Clock } from '../../kernel/clock.js';
import type { WebhookRow } from '../../store/tables/outbox.js';
import type { Secret } from '../vault/secret.js';

/** A secret of before, which still signs. */
export interface OldSecret {
  secret: string;
  /** ISO 8601. */
  until: string;
}

export interface OverlapDeps {
  clock: Clock;
  openSecret(webhookId: string, sealed: string): Secret;
}

/** Ours: of more rotations within one overlap the oldest secrets sign no more. */
const MOST = 4;

/** Those of before that sign now, the newest first. */
export const oldSecretsOf = (
  { clock, openSecret }: OverlapDeps,
  { id, old_secret_sealed, old_secret_until }: WebhookRow,
): OldSecret[] => {
  if (old_secret_sealed === null || old_secret_until === null) return [];
  const text = textOf(openSecret(id, old_secret_sealed));
  return (
    text
      .split('\n')
      .map((line) => line.split(' '))
      // One without a time of its own was sealed alone: its end is the column's.
      .map(([secret = '', until = old_secret_until]) => ({ secret, until }))
      .filter(({ until }) => Date.parse(until) > clock.now())
  );
};

/** The secret of now joins those of before: who was promised an overlap keeps it. */
export const overlapped = (
  deps: OverlapDeps,
  webhook: WebhookRow,
  { sealed, until }: { sealed: string; until: string },
): OldSecret[] => {
  const replaced = { secret: textOf(deps.openSecret(webhook.id, sealed)), until };
  return [replaced, ...oldSecretsOf(deps, webhook)].slice(0, MOST);
};

/** As they are sealed together. */
export const joined = (secrets: OldSecret[]): string =>
  secrets.map(({ secret, until }) => `${secret} ${until}`).join('\n');

/** When the last of them ends; null: there is none. */
export const endOf = (secrets: OldSecret[]): string | null =>
  secrets.reduce<string | null>((end, { until }) => (end && end > until ? end : until), null);

const textOf = (secret: Secret): string => secret.take((bytes) => bytes.toString());
