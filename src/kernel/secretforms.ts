/**
 * Ours: the shortest piece of a value that is searched for. A shorter one may occur in a text by
 * chance.
 */
export const MIN_PIECE_LENGTH = 8;
/**
 * Ours: the shortest line of a multi-line value that is searched for alone, because it may come
 * back indented or with other line ends.
 */
const MIN_LINE_LENGTH = 16;
/** Ours: a longer form is searched for in pieces of this length. */
const MAX_PIECE_LENGTH = 64;
const ARMOUR = /^-----/;

/**
 * Returns the forms of a secret before any escaping: as it is, line by line, without the padding at
 * its end, in both base64 alphabets if it is in one of them, and encoded in base64 or hex, also
 * with blanks or colons between its bytes. A form of more than 64 characters is returned in pieces
 * that together cover all of it.
 */
export const formsOf = (value: string): string[] => {
  const bytes = Buffer.from(value);
  const hex = hexForms(bytes);
  const long = [...linesOf(value), ...alphabets(value), ...hex];
  const forms = [
    value,
    ...base64Forms(bytes),
    ...long.filter(({ length }) => length >= MIN_PIECE_LENGTH),
  ];
  return [...new Set(forms.flatMap(piecesOf))].filter((form) => form !== '');
};

/** Returns the hexadecimal forms, also as debuggers and fingerprints write them. */
const hexForms = (bytes: Buffer): string[] => {
  const pairs = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'));
  const forms = ['', ' ', ':'].map((between) => pairs.join(between));
  return [...forms, ...forms.map((form) => form.toUpperCase())];
};

const linesOf = (value: string): string[] => {
  const trimmed = value.trim();
  const lines = trimmed.split('\n').map((line) => line.trim());
  const own = lines.filter((line) => line.length >= MIN_LINE_LENGTH && !ARMOUR.test(line));
  return [trimmed, ...own];
};

/**
 * Returns the value without the padding at its end, and in the other base64 alphabet if it is in
 * one. RFC 4648: in a URL, `-` and `_` replace `+` and `/`.
 */
const alphabets = (value: string): string[] => {
  const text = value.trim().replace(/=+$/, '');
  if (/^[A-Za-z0-9+/]+$/.test(text)) return [text, text.replaceAll('+', '-').replaceAll('/', '_')];
  if (/^[\w-]+$/.test(text)) return [text, text.replaceAll('-', '+').replaceAll('_', '/')];
  return [text];
};

/**
 * Returns the base64 forms. The encoding of a value depends on the number of bytes before it, such
 * as a name before a password. For each alignment it returns the characters that depend on the
 * value only.
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

const piecesOf = (form: string): string[] => {
  if (form.length <= MAX_PIECE_LENGTH) return [form];
  const count = Math.ceil(form.length / MAX_PIECE_LENGTH);
  return Array.from({ length: count }, (_, at) => {
    const begin = Math.min(at * MAX_PIECE_LENGTH, form.length - MAX_PIECE_LENGTH);
    return form.slice(begin, begin + MAX_PIECE_LENGTH);
  });
};
