/** ANSI escape sequences: CSI, then OSC with its text. */
const ESCAPES =
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b\]|\x9d)[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?/g;
/** Includes bidirectional overrides, and excludes the two joiners. */
const INVISIBLE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const NAME = /^(?!.*\/\/)[\p{L}\p{N}_.:@/+[\]-]{1,100}$/u;
const NAME_CHARACTERS = 100;
const SECRET_NAME =
  /token|secret|passw|passphrase|authori[sz]ation|signature|credential|cookie|apikey|privatekey/;
const SECRET_WORD = /^(key|keys|auth|pwd|pin|otp|sig|bearer)$/;
/** Issuer prefixes, JSON web tokens and bearer headers. */
const SECRET_VALUE =
  /\b(?:gh[opsur]_|github_pat_|glpat-|[rs]k_(?:live|test)_|whsec_|xox[abprs]-|sk-|AKIA|eyJ[\w-]+\.|Bearer )[\w.~+/=-]{8,}/g;
const URL_LOGIN = /(:\/\/)[^/?#\s@]*@/g;
const URL_SECRET = /([?&][^=&\s#]*(?:token|secret|key|sig|passw|auth|code)[^=&\s#]*=)[^&\s#]+/gi;

/** Removes text that looks like a secret. */
export const printableLine = (text: string, max: number): string => {
  // A generous cut avoids work on megabytes.
  const clean = text
    .slice(0, max * 20)
    .replace(ESCAPES, '')
    .replace(/\s+/g, ' ')
    .replace(INVISIBLE, '')
    .replace(SECRET_VALUE, '[hidden]')
    .replace(URL_LOGIN, '$1')
    .replace(URL_SECRET, '$1[hidden]')
    .trim();
  const characters = [...clean];
  return characters.length > max ? `${characters.slice(0, max - 1).join('')}…` : clean;
};

/** A quotation is recognizable as data. */
export const quote = (text: string, max: number): string =>
  `"${printableLine(text, max).replaceAll('"', "'")}"`;

/** Quotes a text that could be a sentence or a link. */
export const quoteUnlessName = (text: string): string =>
  text === '' || NAME.test(text) ? text : quote(text, NAME_CHARACTERS);

/** Such as `apiKey`, `client_secret` or `X-Hub-Signature-256`. */
export const isSecretName = (name: string): boolean => {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return SECRET_NAME.test(words.join('')) || words.some((word) => SECRET_WORD.test(word));
};
