/** Numbers from 0 to 1 that the seed alone decides (mulberry32). */
const seeded = (seed: number): (() => number) => {
  let state = seed * 0x9e3779b9;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

const ALPHABET = 'ABCDEFabcdef0123456789xyzXYZ+/=_-.~!@#$%^&*()[]{}<>|;:,?"\'\\ äß€😀';

/** A secret of such characters as keys and passwords hold. */
export const letters = (seed: number, length: number): string => {
  const random = seeded(seed);
  const all = [...ALPHABET];
  const one = () => all[Math.floor(random() * all.length)] ?? 'x';
  const inner = Array.from({ length: length - 2 }, one).join('');
  return `x${inner}z`;
};

const hexOf = (text: string, digits: number): string =>
  (text.codePointAt(0) ?? 0).toString(16).padStart(digits, '0');
const units = (text: string): string =>
  Array.from({ length: text.length }, (_, at) => `\\u${hexUnit(text, at)}`).join('');
const hexUnit = (text: string, at: number): string =>
  text.charCodeAt(at).toString(16).padStart(4, '0');
const bytes = (text: string, before: string): string =>
  [...Buffer.from(text)]
    .map((byte) => `${before}${byte.toString(16).padStart(2, '0').toUpperCase()}`)
    .join('');

const SPELLINGS: ((text: string) => string)[] = [
  (text) => units(text),
  (text) => units(text).replace(/[a-f]/g, (digit) => digit.toUpperCase()),
  (text) => bytes(text, '%'),
  (text) => bytes(text, '%').toLowerCase(),
  (text) => bytes(text, '='),
  (text) => bytes(text, '\\x'),
  (text) => `&#${text.codePointAt(0)};`,
  (text) => `&#x${hexOf(text, 2)};`,
  (text) => `&#x${hexOf(text, 6).toUpperCase()};`,
  (text) => `\\u{${hexOf(text, 1)}}`,
  (text) => (/[0-9A-Za-z]/.test(text) ? text : `\\${text}`),
];

/** The secret with some of its characters escaped in one way or another, so many times over. */
export const spelled = (seed: number, secret: string, layers: number): string => {
  const random = seeded(seed + 7919);
  let text = secret;
  for (let layer = 0; layer < layers; layer++) {
    const share = layer === 0 ? 0.5 : 0.15;
    text = [...text]
      .map((one) => {
        const spell = SPELLINGS[Math.floor(random() * SPELLINGS.length)];
        return spell && random() < share ? spell(one) : one;
      })
      .join('');
  }
  return text;
};
