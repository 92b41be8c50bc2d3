const MAX_KEPT = 100;
const MAX_NAME_LENGTH = 200;
const MAX_VALUE_LENGTH = 2000;
/**
 * Names of parameters that contain secrets, which every proxy on the way would log.
 * `validationToken` of Microsoft Graph is allowed.
 */
const SECRET_NAME = new RegExp(
  [
    '(?:^|[-_.])(?:token|secret|key|sig|signature|auth|authori[sz]ation|jwt|assertion|session|pwd)$',
    '(?:access|auth|api|refresh|session|bearer|csrf)[-_.]?(?:token|key)$|(?:^|[-_.])id[-_.]?token$',
    'passw(?:or)?d|passphrase|client[-_.]?secret|session[-_.]?id$|oidc',
  ].join('|'),
  'i',
);

/** The first value of each name. */
export type Query = Record<string, string>;

const NONE: Query = {};

export const queryIn = (url: string): Query => {
  const start = url.indexOf('?');
  if (start < 0) return NONE;
  const found = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(readable(url.slice(start + 1)))) {
    const isKept = name !== '' && name !== '__proto__' && name.length <= MAX_NAME_LENGTH;
    if (!isKept || found.has(name)) continue;
    if (found.size === MAX_KEPT) break;
    found.set(name, value);
  }
  return found.size === 0 ? NONE : Object.fromEntries(found);
};

const ESCAPES = /(?:%[0-9a-f]{2})+/gi;
const ESCAPED_BYTE = /%[89a-f]/i;

/** Keeps bytes that are not UTF-8 percent-encoded, such as `caf%E9`. */
const readable = (query: string): string => {
  if (!ESCAPED_BYTE.test(query)) return query;
  return query.replace(ESCAPES, (escapes) => {
    try {
      decodeURIComponent(escapes);
      return escapes;
    } catch {
      return escapes.replaceAll('%', '%25');
    }
  });
};

export const secretParameter = (query: Query): string | null =>
  query === NONE ? null : (Object.keys(query).find((name) => SECRET_NAME.test(name)) ?? null);

export const filterQuery = (query: Query, holdsSecret: (text: string) => boolean): Query | null => {
  if (query === NONE) return null;
  const kept = Object.entries(query).filter(
    ([name, value]) => !SECRET_NAME.test(name) && !holdsSecret(name) && !holdsSecret(value),
  );
  const cut = kept.map(([name, value]) => [name, value.slice(0, MAX_VALUE_LENGTH)]);
  return Object.fromEntries(cut);
};
