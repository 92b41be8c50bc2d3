/** Ours: a shorter piece of a value may stand in a text by chance. */
export const SHORTEST_PIECE = 8;
/** Ours: of a value of many lines each may come back alone, indented, or with other line ends. */
const SHORTEST_LINE = 16;
/** Ours: a longer form is looked for in pieces of so many characters. */
const LONGEST_PIECE = 64;
const ARMOUR = /^-----/;

/**
 * A secret as it may be written before anything is escaped: as it is, line by line, without the
 * padding at its end, in both alphabets of base64 if it is in one of them, and encoded in base64 or
 * hex, with blanks or colons between its bytes too. What is longer than 64 characters comes in pieces, which together are all of it.
 */
export const formsOf = (value: string): string[] => {
  const bytes = Buffer.from(value);
  const hex = hexForms(bytes);
  const long = [...linesOf(value), ...unpadded(value), ...alphabets(value), ...hex];
  const forms = [
    value,
    ...base64Forms(bytes),
    ...long.filter(({ length }) => length >= SHORTEST_PIECE),
  ];
  return [...new Set(forms.flatMap(piecesOf))].filter((form) => form !== '');
};

/** Also as debuggers and fingerprints write it. */
const hexForms = (bytes: Buffer): string[] => {
  const pairs = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'));
  const forms = ['', ' ', ':'].map((between) => pairs.join(between));
  return [...forms, ...forms.map((form) => form.toUpperCase())];
};

const linesOf = (value: string): string[] => {
  const trimmed = value.trim();
  const lines = trimmed.split('\n').map((line) => line.trim());
  const own = lines.filter((line) => line.length >= SHORTEST_LINE && !ARMOUR.test(line));
  return [trimmed, ...own];
};

const unpadded = (value: string): string[] => [value.trim().replace(/=+$/, '')];

/** RFC 4648: `+` and `/` are `-` and `_` where the text is to stand in an address. */
const alphabets = (value: string): string[] => {
  const text = value.trim().replace(/=+$/, '');
  if (/^[A-Za-z0-9+/]+$/.test(text)) return [text.replaceAll('+', '-').replaceAll('/', '_')];
  if (/^[\w-]+$/.test(text)) return [text.replaceAll('-', '+').replaceAll('_', '/')];
  return [];
};

/**
 * In base64 a value looks otherwise by how many bytes stand before it, as a name does before a
 * password. Of each way the characters that are the value's alone.
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
    ...shifted.filter(({ length }) => length >= SHORTEST_PIECE),
  ];
};

const piecesOf = (form: string): string[] => {
  if (form.length <= LONGEST_PIECE) return [form];
  const count = Math.ceil(form.length / LONGEST_PIECE);
  return Array.from({ length: count }, (_, at) => {
    const begin = Math.min(at * LONGEST_PIECE, form.length - LONGEST_PIECE);
    return form.slice(begin, begin + LONGEST_PIECE);
  });
};
