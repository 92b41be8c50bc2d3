/** Visible ASCII, with blanks only inside (RFC 9110, section 5.5; Ours: no obs-text). */
const VALUE = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;

/**
 * Returns why a secret cannot be sent in an HTTP header, without any part of the secret, or null if
 * it can.
 */
export const faultOfHeaderValue = (value: string): string | null =>
  VALUE.test(value)
    ? null
    : 'must be one line of printable ASCII characters without leading or trailing blanks, because it is sent in a header';
