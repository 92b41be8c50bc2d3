type Encoding = 'utf-16le' | 'utf-16be';

const MARKS: [mark: number[], decode: (bytes: Uint8Array) => string | null][] = [
  [[0xff, 0xfe, 0, 0], (bytes) => decodeUtf32(bytes, true)],
  [[0, 0, 0xfe, 0xff], (bytes) => decodeUtf32(bytes, false)],
  [[0xff, 0xfe], (bytes) => new TextDecoder('utf-16le').decode(bytes)],
  [[0xfe, 0xff], (bytes) => new TextDecoder('utf-16be').decode(bytes)],
];

/** Returns null unless the bytes are UTF-16 or UTF-32 with a byte order mark. */
export const decodeMarked = (bytes: Uint8Array): string | null => {
  const found = MARKS.find(([mark]) => mark.every((byte, at) => bytes[at] === byte));
  const text = found?.[1](bytes) ?? null;
  return text?.includes('\0') ? null : text;
};

/** Also decodes UTF-16 without a byte order mark, unless the bytes may be anything else. */
export const decodeWide = (bytes: Uint8Array): string | null => {
  const marked = decodeMarked(bytes);
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  if (marked !== null || !sample.includes(0)) return marked;
  const encodings: Encoding[] = ['utf-16le', 'utf-16be'];
  const [encoding, other] = encodings.filter((each) => isText(sample, each));
  return encoding && !other ? new TextDecoder(encoding).decode(bytes) : null;
};

const SAMPLE_BYTES = 64 * 1024;
/** Characters that do not occur in text, of which unassigned ones show the wrong byte order. */
const NO_TEXT = /[\x00-\x07\x0e-\x1a\x1c-\x1f]|\p{Cn}|\p{Co}/u;
/** High bytes of Greek, Cyrillic, Hebrew and Arabic letters. 8-bit text does not have them. */
const HIGH_BYTES = /[\x01-\x07]/;

/** Pairs of ASCII bytes are assigned characters as well, so a text must have ASCII characters. */
const isText = (sample: Uint8Array, encoding: Encoding): boolean => {
  try {
    // A stream may end within a character.
    const decoder = new TextDecoder(encoding, { fatal: true });
    const text = decoder.decode(sample, { stream: true });
    const ascii = text.match(/[\t\n\r -~]/g)?.length ?? 0;
    const isWide = HIGH_BYTES.test(Buffer.from(sample).toString('latin1'));
    return ascii > 0 && ascii * (isWide ? 10 : 2) >= text.length && !NO_TEXT.test(text);
  } catch {
    return false;
  }
};

const decodeUtf32 = (bytes: Uint8Array, isLittle: boolean): string | null => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let text = '';
  for (let at = 4; at + 3 < bytes.length; at += 4) {
    const point = view.getUint32(at, isLittle);
    if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return null;
    text += String.fromCodePoint(point);
  }
  return text;
};
