import type { Headers } from '../../kernel/signature.js';

const SENDER_IDS = [
  'x-github-delivery',
  'x-gitea-delivery',
  'x-gitlab-event-uuid',
  'x-gitlab-webhook-uuid',
  'webhook-id',
  'svix-id',
  'idempotency-key',
];
/** GitLab's event id is shared by all hooks of one event, its Idempotency-Key names the delivery. */
const SENDER_IDS_OF_GITLAB = ['idempotency-key', ...SENDER_IDS];
const EVENTS = ['x-github-event', 'x-gitlab-event', 'x-gitea-event'];
const LONGEST_ID = 200;
const LONGEST_EVENT = 100;

const NOT_KEPT = /authori[sz]ation|cookie|signature|hmac|secret|token|passw|api-?key|credential/;
const LONGEST_KEPT = 2000;

/** The sender's own id of a delivery, the first found of those that forges send; or null. */
export const senderIdOf = (headers: Headers): string | null => {
  const isGitlab = Object.keys(headers).some((name) => name.startsWith('x-gitlab-'));
  const names = isGitlab ? SENDER_IDS_OF_GITLAB : SENDER_IDS;
  for (const name of names) {
    const found = headers[name]?.trim();
    if (found) return found.slice(0, LONGEST_ID);
  }
  return null;
};

/** The event's name: one line, no control characters, at most 100 characters. */
export const eventOf = (headers: Headers): string | null => {
  const found = EVENTS.find((name) => headers[name]);
  return nameOf((found && headers[found]) ?? '');
};

/**
 * The event's name of a sender that has no header for it: Stripe alone. `text` is the body, which was
 * verified and is JSON.
 */
export const eventInBody = (headers: Headers, text: string): string | null => {
  if (headers['stripe-signature'] === undefined) return null;
  const { type }: { type?: unknown } = JSON.parse(text);
  return typeof type === 'string' ? nameOf(type) : null;
};

const nameOf = (event: string): string | null => {
  const line = event.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '').trim();
  // Half of a pair at the cut is no character.
  return line.slice(0, LONGEST_EVENT).replace(/\p{Cs}/gu, '') || null;
};

/** Headers worth keeping with a delivery: no signatures, no authorisation, nothing named a secret. */
export const keptHeaders = (headers: Headers): Record<string, string> => {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !NOT_KEPT.test(name))
      kept[name] = String(value).slice(0, LONGEST_KEPT);
  }
  return kept;
};

/**
 * The secrets that a request shows, as `Authorization: Bearer`, `X-Webhook-Secret` or
 * `X-Gitlab-Token`. Node reads headers as latin1, so that gives back the bytes that were sent.
 */
export const secretsOf = (headers: Headers): Buffer[] => {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  return [bearer, headers['x-webhook-secret'], headers['x-gitlab-token']]
    .filter((given) => given !== undefined)
    .map((given) => Buffer.from(given, 'latin1'));
};
