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

const NOT_KEPT =
  /^(authorization|cookie|proxy-authorization|x-hub-signature(-256)?|webhook-signature|svix-signature|stripe-signature|x-webhook-secret|x-gitlab-token|x-gitea-signature|x-gogs-signature)$|secret|token|password|api-?key/;

/** The sender's own id of a delivery, or null (reliability.md: Answers of the receiver). */
export const senderIdOf = (headers: Headers): string | null => {
  const isGitlab = Object.keys(headers).some((name) => name.startsWith('x-gitlab-'));
  const names = isGitlab ? SENDER_IDS_OF_GITLAB : SENDER_IDS;
  const found = names.map((name) => headers[name]?.trim()).find((value) => value);
  return found ? found.slice(0, LONGEST_ID) : null;
};

/** The event's name: one line, no control characters, at most 100 characters. */
export const eventOf = (headers: Headers): string | null => {
  const found = EVENTS.map((name) => headers[name]).find((value) => value);
  const event = found?.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '').trim();
  return event ? event.slice(0, LONGEST_EVENT) : null;
};

/** Headers worth keeping with a delivery: no signatures, no authorisation, nothing named a secret. */
export const keptHeaders = (headers: Headers): Record<string, string> => {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !NOT_KEPT.test(name)) kept[name] = String(value).slice(0, 2000);
  }
  return kept;
};

/** The secret as `Authorization: Bearer`, `X-Webhook-Secret` or `X-Gitlab-Token`; in a URL it is refused. */
export const secretOf = (headers: Headers): Buffer | null => {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  const given = bearer ?? headers['x-webhook-secret'] ?? headers['x-gitlab-token'];
  return given ? Buffer.from(given, 'latin1') : null;
};
