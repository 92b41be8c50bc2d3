/** Visible ASCII with inner blanks (RFC 9110, section 5.5, without obs-text). */
const VALUE = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;

export const faultOfHeaderValue = (value: string): string | null =>
  VALUE.test(value)
    ? null
    : 'must be one line of printable ASCII characters without leading or trailing blanks, because it is sent in a header';
