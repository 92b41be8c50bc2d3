import {
  type Headers,
  headerText,
  type SignatureScheme,
  stripeTime,
} from '../../kernel/signature.js';
import type { Sender } from '../senders/open.js';
import { signedTimeOf } from '../senders/verify.js';

/** The unsigned headers that name a delivery. Ours: the last two are from forwards. */
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
 * The same for GitLab: its event id is shared by all hooks of one event, and its Idempotency-Key
 * names the delivery.
 */
const SENDER_IDS_OF_GITLAB = ['idempotency-key', ...SENDER_IDS];
const EVENTS = ['x-github-event', 'x-gitlab-event', 'x-gitea-event'];
const MAX_ID_LENGTH = 200;
const MAX_EVENT_LENGTH = 100;

const NOT_KEPT = new RegExp(
  [
    'authori[sz]ation|cookie|signature|hmac|secret|token|passw|passphrase|api[-_]?key|credential',
    'jwt|assertion|oidc|session|(?:^|[-_])(?:sig|pwd|auth)$',
    // The idempotency key names a delivery.
    '(?<!idempotency)[-_]key$',
  ].join('|'),
);
const MAX_KEPT = 2000;

/** The proof of a request: a signature, the hook's secret in a header, or what its sender signs. */
export type ProvenBy = SignatureScheme | 'secret' | Sender;

/** The fields of a body that a scheme may sign as the delivery's id and the event's name. */
export interface BodyNames {
  id: string | null;
  type: string | null;
  /** The texts at the places that senders name, by place: `body.event.id`. */
  at?: Record<string, string>;
}

/** Returns a name for the proof, which is equal if deliveries are named in the same way. */
export const proofName = (by: ProvenBy): string =>
  typeof by === 'string' ? by : `sender ${by.name}`;

/**
 * Returns the sender's own id of a delivery, or null. It is the id that the scheme signs (for
 * Standard Webhooks and Svix the id header, for Stripe the body's `id`); only if the scheme signs
 * none (GitHub, a secret in a header) is it the first unsigned header found. A body with Stripe's
 * signature and no id is identified by the time that is signed with it: the same bytes again are a
 * duplicate, and an equal body that the sender signs later is not.
 */
export const senderIdOf = (by: ProvenBy, headers: Headers, names: BodyNames): string | null => {
  const signed = signedIdOf(by, headers, names);
  if (signed === null) return unsignedIdOf(headers);
  return (signed.trim() || signed).slice(0, MAX_ID_LENGTH);
};

const signedIdOf = (by: ProvenBy, headers: Headers, names: BodyNames): string | null => {
  const { id } = names;
  if (typeof by === 'object') return idFromSender(by, headers, names);
  if (by === 'standard') return headers['webhook-id'] ?? '';
  if (by === 'svix') return headers['svix-id'] ?? '';
  if (by !== 'stripe') return null;
  return id?.trim() ? id : `t=${stripeTime(headers)}`;
};

/** Ours: the id of a body that has none where its sender puts it. */
const BODY_ALONE = 'body';

/**
 * Returns the id where the sender puts it, otherwise the time that it signs. Ours: a body without
 * the id that its sender puts there is known by its bytes alone.
 */
const idFromSender = ({ recipe }: Sender, headers: Headers, names: BodyNames): string | null => {
  const id = namedText(recipe.idFrom, headers, names)?.trim();
  if (id) return id;
  const time = signedTimeOf(recipe, headers);
  if (time !== undefined) return `t=${time}`;
  return recipe.idFrom?.startsWith('body.') ? BODY_ALONE : null;
};

/** Returns the text at `headers.<name>` or `body.<path>`. */
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

const unsignedIdOf = (headers: Headers): string | null => {
  const isGitlab = Object.keys(headers).some((name) => name.startsWith('x-gitlab-'));
  const names = isGitlab ? SENDER_IDS_OF_GITLAB : SENDER_IDS;
  for (const name of names) {
    const found = headers[name]?.trim();
    if (found) return found.slice(0, MAX_ID_LENGTH);
  }
  return null;
};

/**
 * Returns the event's name, or null. It is the body's `type` if the scheme signs that (all but
 * GitHub's and a secret in a header), otherwise the value of an unsigned header. It is one line
 * without control characters, at most 100 characters.
 */
export const deliveryEvent = (by: ProvenBy, headers: Headers, names: BodyNames): string | null => {
  if (typeof by === 'object') {
    const event = namedText(by.recipe.eventFrom, headers, names);
    return (event && nameOf(event)) || headerEventOf(headers);
  }
  const { type } = names;
  const isTyped = by !== 'github' && by !== 'secret' && type !== null;
  return (isTyped && nameOf(type)) || headerEventOf(headers);
};

/** Returns the event's name from an unsigned header, or null. */
export const headerEventOf = (headers: Headers): string | null => {
  const found = EVENTS.find((name) => headers[name]);
  return nameOf((found && headers[found]) ?? '');
};

const nameOf = (event: string): string | null => {
  const line = event.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '').trim();
  // Half of a surrogate pair at the cut is not a character.
  return line.slice(0, MAX_EVENT_LENGTH).replace(/\p{Cs}/gu, '') || null;
};

/** Values and headers that are not stored with a delivery. */
export interface Unkept {
  /** True if a text contains a secret of the hooks. */
  holdsSecret(text: string): boolean;
  /** The headers that hold the signatures of the hooks' senders. */
  headers: string[];
}

/**
 * Returns the headers to store with a delivery: no signatures, no authorisation, nothing whose name
 * means a secret, and nothing that contains one.
 */
export const keptHeaders = (headers: Headers, unkept: Unkept): Record<string, string> => {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || NOT_KEPT.test(name) || unkept.headers.includes(name)) continue;
    const text = String(value);
    if (!unkept.holdsSecret(text)) kept[name] = text.slice(0, MAX_KEPT);
  }
  return kept;
};

/** True if a header of this name may hold a secret or a signature. */
export const meansSecret = (name: string): boolean => NOT_KEPT.test(name);

/**
 * Returns the secrets that a request carries, as `Authorization: Bearer`, `X-Webhook-Secret` or
 * `X-Gitlab-Token`. Node decodes headers as latin1, so this encoding gives the bytes that were
 * sent.
 */
export const secretHeaders = (headers: Headers): Buffer[] => {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  return [bearer, headers['x-webhook-secret'], headers['x-gitlab-token']]
    .filter((given) => given !== undefined)
    .map((given) => Buffer.from(given, 'latin1'));
};
