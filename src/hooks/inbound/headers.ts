import {
  type Headers,
  headerText,
  type SignatureScheme,
  stripeTime,
} from '../../kernel/signature.js';
import type { Sender } from '../senders/open.js';
import { readSignedTimestamp } from '../senders/verify.js';

/** Unsigned headers with a delivery ID. The last two come from forwards. */
const SENDER_IDS = [
  'x-github-delivery',
  'x-gitea-delivery',
  'x-gitlab-event-uuid',
  'x-gitlab-webhook-uuid',
  'idempotency-key',
  'webhook-id',
  'svix-id',
];
/**
 * GitLab shares its event ID between all hooks of an event. Its Idempotency-Key identifies the
 * delivery.
 */
const SENDER_IDS_OF_GITLAB = ['idempotency-key', ...SENDER_IDS];
const EVENTS = ['x-github-event', 'x-gitlab-event', 'x-gitea-event'];
const MAX_ID_LENGTH = 200;
const MAX_EVENT_LENGTH = 100;

const NOT_KEPT = new RegExp(
  [
    'authori[sz]ation|cookie|signature|hmac|secret|token|passw|passphrase|api[-_]?key|credential',
    'jwt|assertion|oidc|session|(?:^|[-_])(?:sig|pwd|auth)$',
    '(?<!idempotency)[-_]key$',
  ].join('|'),
);
const MAX_KEPT = 2000;

export type ProofSource = SignatureScheme | 'secret' | Sender;

export interface BodyNames {
  id: string | null;
  type: string | null;
  at?: Record<string, string>;
}

export const proofName = (by: ProofSource): string =>
  typeof by === 'string' ? by : `sender ${by.name}`;

/**
 * The delivery ID is the one that the scheme signs: the ID header of Standard Webhooks and Svix,
 * the `id` in Stripe's body. Unsigned headers count only if the scheme signs no ID (GitHub, a
 * secret header). Without an `id`, Stripe's signed time identifies the body: the same bytes are a
 * duplicate, an equal body signed later is not.
 */
export const readSenderId = (
  by: ProofSource,
  headers: Headers,
  names: BodyNames,
): string | null => {
  const signed = readSignedId(by, headers, names);
  if (signed === null) return readUnsignedId(headers);
  return (signed.trim() || signed).slice(0, MAX_ID_LENGTH);
};

const readSignedId = (by: ProofSource, headers: Headers, names: BodyNames): string | null => {
  const { id } = names;
  if (typeof by === 'object') return idFromSender(by, headers, names);
  if (by === 'standard') return headers['webhook-id'] ?? '';
  if (by === 'svix') return headers['svix-id'] ?? '';
  if (by !== 'stripe') return null;
  return id?.trim() ? id : `t=${stripeTime(headers)}`;
};

const BODY_ALONE = 'body';

/** Without an ID in the expected place, the bytes of the body identify the delivery. */
const idFromSender = ({ recipe }: Sender, headers: Headers, names: BodyNames): string | null => {
  const id = namedText(recipe.idFrom, headers, names)?.trim();
  if (id) return id;
  const time = readSignedTimestamp(recipe, headers);
  if (time !== undefined) return `t=${time}`;
  return recipe.idFrom?.startsWith('body.') ? BODY_ALONE : null;
};

/** Location: `headers.<name>` or `body.<path>`. */
const namedText = (
  place: string | undefined,
  headers: Headers,
  { at }: BodyNames,
): string | undefined => {
  if (place === undefined) return undefined;
  return place.startsWith('headers.')
    ? headerText(headers, place.slice('headers.'.length))
    : at?.[place];
};

const readUnsignedId = (headers: Headers): string | null => {
  const isGitlab = Object.keys(headers).some((name) => name.startsWith('x-gitlab-'));
  const names = isGitlab ? SENDER_IDS_OF_GITLAB : SENDER_IDS;
  for (const name of names) {
    const found = headers[name]?.trim();
    if (found) return found.slice(0, MAX_ID_LENGTH);
  }
  return null;
};

/**
 * The body's `type` if the scheme signs it, otherwise an unsigned header. One line without control
 * characters, at most 100 characters.
 */
export const deliveryEvent = (
  by: ProofSource,
  headers: Headers,
  names: BodyNames,
): string | null => {
  if (typeof by === 'object') {
    const event = namedText(by.recipe.eventFrom, headers, names);
    return (event && sanitizeEventName(event)) || readHeaderEvent(headers);
  }
  const { type } = names;
  const isTyped = by !== 'github' && by !== 'secret' && type !== null;
  return (isTyped && sanitizeEventName(type)) || readHeaderEvent(headers);
};

export const readHeaderEvent = (headers: Headers): string | null => {
  const found = EVENTS.find((name) => headers[name]);
  return sanitizeEventName((found && headers[found]) ?? '');
};

const sanitizeEventName = (event: string): string | null => {
  const line = event.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '').trim();
  // Removes half of a surrogate pair at the cut.
  return line.slice(0, MAX_EVENT_LENGTH).replace(/\p{Cs}/gu, '') || null;
};

export interface SecretFilter {
  holdsSecret(text: string): boolean;
  headers: string[];
}

export const storedHeaders = (headers: Headers, unkept: SecretFilter): Record<string, string> => {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || NOT_KEPT.test(name) || unkept.headers.includes(name)) continue;
    const text = String(value);
    if (!unkept.holdsSecret(text)) kept[name] = text.slice(0, MAX_KEPT);
  }
  return kept;
};

export const isSensitiveName = (name: string): boolean => NOT_KEPT.test(name);

/** Node decodes headers as latin1, so this encoding restores the sent bytes. */
export const secretHeaders = (headers: Headers): Buffer[] => {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  return [bearer, headers['x-webhook-secret'], headers['x-gitlab-token']]
    .filter((given) => given !== undefined)
    .map((given) => Buffer.from(given, 'latin1'));
};
