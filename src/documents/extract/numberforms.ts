const ROMAN: [number, string][] = [
  [1000, 'm'],
  [900, 'cm'],
  [500, 'd'],
  [400, 'cd'],
  [100, 'c'],
  [90, 'xc'],
  [50, 'l'],
  [40, 'xl'],
  [10, 'x'],
  [9, 'ix'],
  [5, 'v'],
  [4, 'iv'],
  [1, 'i'],
];
/** Larger numbers are shown as decimals. */
const MAX_ROMAN = 5000;
/** Letters repeat after `z`: `aa`, `bb` (ECMA-376-1, 17.18.59). */
const MAX_LETTERS = 780;

const roman = (number: number): string => {
  let rest = number;
  let letters = '';
  for (const [value, sign] of ROMAN) {
    while (rest >= value) {
      letters += sign;
      rest -= value;
    }
  }
  return letters;
};

const lettered = (number: number): string =>
  String.fromCharCode(97 + ((number - 1) % 26)).repeat(Math.ceil(number / 26));

/** Format names are those of Word (`lowerRoman`) or OpenDocument (`i`). */
export const formatListNumber = (format: string, number: number): string => {
  const isRoman = number >= 1 && number <= MAX_ROMAN;
  const isLettered = number >= 1 && number <= MAX_LETTERS;
  switch (format) {
    case 'lowerRoman':
    case 'i':
      return isRoman ? roman(number) : String(number);
    case 'upperRoman':
    case 'I':
      return isRoman ? roman(number).toUpperCase() : String(number);
    case 'lowerLetter':
    case 'a':
      return isLettered ? lettered(number) : String(number);
    case 'upperLetter':
    case 'A':
      return isLettered ? lettered(number).toUpperCase() : String(number);
    case 'decimalZero':
      return String(number).padStart(2, '0');
    default:
      return String(number);
  }
};
