/** Shorter pieces may occur by chance. */
export const MIN_PIECE_LENGTH = 8;
/**
 * Minimum line of a multi-line value that is searched for alone, because it may be indented or have
 * other line ends.
 */
const MIN_LINE_LENGTH = 16;
const MAX_PIECE_LENGTH = 64;
const ARMOUR = /^-----/;

/**
 * Forms of a secret before escaping: as it is, by line, without padding, in both base64 alphabets,
 * and encoded in base64 or hex, also with separators. Forms over 64 characters are returned in
 * overlapping pieces.
 */
export const listSecretForms = (value: string): string[] => {
  const bytes = Buffer.from(value);
  const hex = hexForms(bytes);
  const long = [...splitSecretLines(value), ...alphabets(value), ...hex];
  const forms = [
    value,
    ...base64Forms(bytes),
    ...long.filter(({ length }) => length >= MIN_PIECE_LENGTH),
  ];
  return [...new Set(forms.flatMap(splitLongForm))].filter((form) => form !== '');
};

const hexForms = (bytes: Buffer): string[] => {
  const pairs = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'));
  const forms = ['', ' ', ':'].map((between) => pairs.join(between));
  return [...forms, ...forms.map((form) => form.toUpperCase())];
};

const splitSecretLines = (value: string): string[] => {
  const trimmed = value.trim();
  const lines = trimmed.split('\n').map((line) => line.trim());
  const own = lines.filter((line) => line.length >= MIN_LINE_LENGTH && !ARMOUR.test(line));
  return [trimmed, ...own];
};

/**
 * Without padding, and in the other base64 alphabet (RFC 4648: `-` and `_` replace `+` and `/` in
 * URLs).
 */
const alphabets = (value: string): string[] => {
  const text = value.trim().replace(/=+$/, '');
  if (/^[A-Za-z0-9+/]+$/.test(text)) return [text, text.replaceAll('+', '-').replaceAll('/', '_')];
  if (/^[\w-]+$/.test(text)) return [text, text.replaceAll('-', '+').replaceAll('_', '/')];
  return [text];
};

/**
 * base64 depends on the number of preceding bytes, so for each alignment the characters that depend
 * only on the value are returned.
 */
const base64Forms = (bytes: Buffer): string[] => {
  const shifted = [0, 1, 2].flatMap((before) => {
    const padded = Buffer.concat([Buffer.alloc(before), bytes]);
    const first = Math.ceil((before * 8) / 6);
    const last = Math.floor((padded.length * 8) / 6);
    return (['base64', 'base64url'] as const).map((form) =>
      padded.toString(form).slice(first, last),
    );
  });
  return [
    bytes.toString('base64'),
    bytes.toString('base64url'),
    ...shifted.filter(({ length }) => length >= MIN_PIECE_LENGTH),
  ];
};

const splitLongForm = (form: string): string[] => {
  if (form.length <= MAX_PIECE_LENGTH) return [form];
  const count = Math.ceil(form.length / MAX_PIECE_LENGTH);
  return Array.from({ length: count }, (_, at) => {
    const begin = Math.min(at * MAX_PIECE_LENGTH, form.length - MAX_PIECE_LENGTH);
    return form.slice(begin, begin + MAX_PIECE_LENGTH);
  });
};
