export interface EscapeReading {
  means: readonly string[];
  /** A byte that is not a character by itself, as in `%C3%A9`. */
  byte?: number;
  /**
   * Null if the character does not belong to the escape. The same reading if any number of such
   * characters may follow.
   */
  next(unit: number): EscapeReading | null;
}

export const introduced = (unit: number): EscapeReading | null => INTRODUCED.get(unit) ?? null;

const toCodeUnit = (text: string): number => text.charCodeAt(0);
const whole = (...means: string[]): EscapeReading => ({ means, next: () => null });
const step = (next: EscapeReading['next']): EscapeReading => ({ means: [], next });

/** HTML character references for ASCII (WHATWG HTML, 13.5). */
const NAMED = new Map(
  Object.entries({
    '\t': 'Tab',
    '\n': 'NewLine',
    '!': 'excl',
    '"': 'quot QUOT',
    '#': 'num',
    $: 'dollar',
    '%': 'percnt',
    '&': 'amp AMP',
    "'": 'apos',
    '(': 'lpar',
    ')': 'rpar',
    '*': 'ast midast',
    '+': 'plus',
    ',': 'comma',
    '.': 'period',
    '/': 'sol',
    ':': 'colon',
    ';': 'semi',
    '<': 'lt LT',
    '=': 'equals',
    '>': 'gt GT',
    '?': 'quest',
    '@': 'commat',
    '[': 'lsqb lbrack',
    '\\': 'bsol',
    ']': 'rsqb rbrack',
    '^': 'Hat',
    _: 'lowbar UnderBar',
    '`': 'grave DiacriticalGrave',
    '{': 'lcub lbrace',
    '|': 'verbar vert VerticalLine',
    '}': 'rcub rbrace',
  }).flatMap(([character, names]) => names.split(' ').map((name) => [name, character] as const)),
);
const MAX_NAME_LENGTH = 20;
const BARE = new Set(['amp', 'lt', 'gt', 'quot', 'AMP', 'LT', 'GT', 'QUOT']);

const CONTROLS = new Map(
  Object.entries({ n: '\n', r: '\r', t: '\t', b: '\b', f: '\f', v: '\v' }).map(([name, means]) => [
    toCodeUnit(name),
    means,
  ]),
);

const SEMICOLON = toCodeUnit(';');
const BLANK = toCodeUnit(' ');

const parseHexDigit = (unit: number): number => {
  if (unit >= 48 && unit <= 57) return unit - 48;
  const letter = unit | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : 16;
};

interface Digits {
  base: number;
  least: number;
  most: number;
  close?: number;
  mustClose?: true;
}

const digits = (of: Digits, value = 0, count = 0): EscapeReading => ({
  means: count >= of.least && !of.mustClose ? decodeCodePoint(value) : [],
  next: (unit) => {
    if (unit === of.close && count >= of.least) return whole(...decodeCodePoint(value));
    const digit = parseHexDigit(unit);
    if (digit >= of.base || count >= of.most) return null;
    return digits(of, value * of.base + digit, count + 1);
  },
});

/**
 * No control characters except blanks and line ends, because incomplete escapes often look like
 * them.
 */
const decodeCodePoint = (point: number): string[] => {
  if (point > 0x10ffff || point < 9 || (point > 13 && point < 32)) return [];
  return [String.fromCodePoint(point)];
};

const ZERO = toCodeUnit('0');

const afterZeros = (of: Digits): EscapeReading => {
  const zeros: EscapeReading = step((unit) => (unit === ZERO ? zeros : digits(of).next(unit)));
  return zeros;
};

const twoDigits = (of: (value: number) => EscapeReading): EscapeReading => {
  const pairs = sixteen((high) => {
    const values = sixteen((low) => of(high * 16 + low));
    return step((unit) => values[parseHexDigit(unit)] ?? null);
  });
  return step((unit) => pairs[parseHexDigit(unit)] ?? null);
};

const sixteen = (make: (digit: number) => EscapeReading): EscapeReading[] =>
  Array.from({ length: 16 }, (_, digit) => make(digit));

/** An ASCII character, or one byte of a UTF-8 character. */
const byte = twoDigits((value) =>
  value < 128 ? whole(...decodeCodePoint(value)) : { ...whole(), byte: value },
);
const hexadecimal = twoDigits((value) => {
  const char = whole(...decodeCodePoint(value));
  return value < 128 ? char : { ...char, byte: value };
});

const percent = step((unit) =>
  unit === toCodeUnit('u') ? digits({ base: 16, least: 4, most: 4 }) : byte.next(unit),
);

const isBlank = (unit: number): boolean => unit === BLANK || unit === toCodeUnit('\t');

/** End of a soft line break. Blanks before it were added in transport. */
const softBreak: EscapeReading = step((unit) => {
  if (isBlank(unit)) return softBreak;
  if (unit === 10) return whole('');
  return unit === 13 ? step((feed) => (feed === 10 ? whole('') : null)) : null;
});

/** Quoted-printable (RFC 2045, section 6.7), with soft line breaks. */
const equals = step((unit) => softBreak.next(unit) ?? byte.next(unit));

const backslash = step((unit) => {
  if (unit === toCodeUnit('u')) return unicode;
  if (unit === toCodeUnit('U')) return digits({ base: 16, least: 8, most: 8 });
  if (unit === toCodeUnit('x')) return hexadecimal;
  if (parseHexDigit(unit) < 16) return numbered(unit);
  const control = CONTROLS.get(unit);
  if (control !== undefined) return whole(control);
  if (unit < 128) return ITSELF[unit] ?? null;
  return whole(String.fromCharCode(unit));
});

const ITSELF = Array.from({ length: 128 }, (_, unit) => {
  const char = String.fromCharCode(unit);
  return /[a-z]/i.test(char) ? null : whole(char);
});

const braced = afterZeros({ base: 16, least: 1, most: 6, close: toCodeUnit('}'), mustClose: true });

const unicode = step((unit) =>
  unit === toCodeUnit('{') ? braced : digits({ base: 16, least: 4, most: 4 }).next(unit),
);

/** Escapes with the same start: `\53` of C, `\2B ` of CSS, control escapes such as `\b`. */
const numbered = (unit: number): EscapeReading | null =>
  both(
    digits({ base: 8, least: 1, most: 3 }).next(unit),
    digits({ base: 16, least: 1, most: 6, close: BLANK }).next(unit),
    CONTROLS.get(unit),
  );

const both = (
  one: EscapeReading | null,
  other: EscapeReading | null,
  control?: string,
): EscapeReading | null => {
  if (one === null || other === null) {
    const only = one ?? other;
    return only && control ? { ...only, means: [...only.means, control] } : only;
  }
  const means = [...one.means, ...other.means];
  return { means, next: (unit) => both(one.next(unit), other.next(unit)) };
};

const ampersand = step((unit) => (unit === toCodeUnit('#') ? numeric : named('').next(unit)));

const hexNumber = afterZeros({ base: 16, least: 1, most: 8, close: SEMICOLON });
const decimalNumber = afterZeros({ base: 10, least: 1, most: 9, close: SEMICOLON });

const numeric = step((unit) =>
  (unit | 32) === toCodeUnit('x') ? hexNumber : decimalNumber.next(unit),
);

const named = (name: string): EscapeReading => ({
  means: BARE.has(name) ? decodeEntityName(name) : [],
  next: (unit) => {
    if (unit === SEMICOLON) return whole(...decodeEntityName(name));
    const isLetter = (unit | 32) >= 97 && (unit | 32) <= 122;
    return isLetter && name.length < MAX_NAME_LENGTH
      ? named(name + String.fromCharCode(unit))
      : null;
  },
});

const decodeEntityName = (name: string): string[] => {
  const means = NAMED.get(name);
  return means === undefined ? [] : [means];
};

const INTRODUCED = new Map<number, EscapeReading>([
  [toCodeUnit('%'), percent],
  [toCodeUnit('='), equals],
  [toCodeUnit('\\'), backslash],
  [toCodeUnit('&'), ampersand],
]);
