import type { VerifiedHook } from './candidates.js';
import type { SecretFilter } from './headers.js';
import type { ReceivingHook } from './receivinghooks.js';

/** In bytes. Shorter secrets of hooks that do not fire would match many values by chance. */
const MIN_OTHER_LENGTH = 8;
const MIN_ENCODED_LENGTH = 4;
const ESCAPED = /[%+]/;
const URL_SAFE = /[-_]/;
/** First base64 character that depends only on the secret, by its offset in a group. */
const FIRST_WHOLE = [0, 2, 3];

export const createSecretFilter = (
  firing: VerifiedHook[],
  onPath: ReceivingHook[],
): SecretFilter => {
  const own = firing.map(({ hook }) => hook);
  const others = onPath.filter((hook) => !own.includes(hook));
  const secrets = [
    ...own.flatMap(secretsIn),
    ...others.flatMap(secretsIn).filter(({ length }) => length >= MIN_OTHER_LENGTH),
  ];
  const plain = secrets.flatMap(plainForms);
  const encoded = secrets.flatMap(base64Forms);
  const isIn = (text: string): boolean => {
    if (plain.some((form) => text.includes(form))) return true;
    const base64 = URL_SAFE.test(text) ? text.replaceAll('-', '+').replaceAll('_', '/') : text;
    return encoded.some((form) => base64.includes(form));
  };
  return {
    holdsSecret: (text) => isIn(text) || (ESCAPED.test(text) && isIn(percentDecoded(text))),
    headers: own.flatMap(({ sender }) => sender?.recipe.header ?? []),
  };
};

const secretsIn = ({ secrets, sender }: ReceivingHook): Buffer[] => {
  const whole = secrets.map(({ key }) => key.export());
  const isBasic = sender?.recipe.algorithm === 'basic';
  const passwords = isBasic ? whole.map((each) => each.subarray(each.indexOf(':') + 1)) : [];
  return [...whole, ...passwords].filter(({ length }) => length > 0);
};

/** Node decodes headers as latin1; a query is UTF-8. */
const plainForms = (secret: Buffer): string[] => {
  const [latin1, utf8] = [secret.toString('latin1'), secret.toString()];
  return latin1 === utf8 ? [utf8] : [latin1, utf8];
};

const base64Forms = (secret: Buffer): string[] =>
  FIRST_WHOLE.map((first, before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), secret]);
    return bytes.toString('base64').slice(first, Math.floor((bytes.length * 8) / 6));
  }).filter(({ length }) => length >= MIN_ENCODED_LENGTH);

const percentDecoded = (text: string): string =>
  text
    .replaceAll('+', ' ')
    .replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
