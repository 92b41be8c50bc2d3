import type { KeyObject } from 'node:crypto';
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
const WHOLE = ['whole'] as const;
/** The password alone, too. */
const BASIC_PARTS = ['whole', 'password'] as const;

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
  const isIn = (text: string): boolean => {
    const base64 = URL_SAFE.test(text) ? text.replaceAll('-', '+').replaceAll('_', '/') : text;
    return secrets.some(
      ({ plain, encoded }) =>
        plain.some((form) => text.includes(form)) || encoded.some((form) => base64.includes(form)),
    );
  };
  return {
    holdsSecret: (text) => isIn(text) || (ESCAPED.test(text) && isIn(percentDecoded(text))),
    headers: own.flatMap(({ sender }) => sender?.recipe.header ?? []),
  };
};

interface SecretForms {
  /** In bytes. */
  length: number;
  plain: string[];
  encoded: string[];
}

/** Keys never change, so their forms are kept as long as the key. */
const knownForms = {
  whole: new WeakMap<KeyObject, SecretForms>(),
  password: new WeakMap<KeyObject, SecretForms>(),
};

const secretsIn = ({ secrets, sender }: ReceivingHook): SecretForms[] => {
  const parts = sender?.recipe.algorithm === 'basic' ? BASIC_PARTS : WHOLE;
  return secrets
    .flatMap(({ key }) => parts.map((part) => formsOf(key, part)))
    .filter(({ length }) => length > 0);
};

const formsOf = (key: KeyObject, part: keyof typeof knownForms): SecretForms => {
  const known = knownForms[part].get(key);
  if (known) return known;
  const whole = key.export();
  const secret = part === 'whole' ? whole : whole.subarray(whole.indexOf(':') + 1);
  const forms = { length: secret.length, plain: plainForms(secret), encoded: base64Forms(secret) };
  knownForms[part].set(key, forms);
  return forms;
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
