/** Ours: a plain text up to this length may say nothing but that there is HTML. */
export const HINT_CHARS = 400;
const HINT = /\bhtml\b|\bbrowser\b/i;

/**
 * Returns the text of a message that has two forms (RFC 2046, 5.1.4): the plain one unless it is blank or
 * a hint at the other, such as `Your client cannot show HTML`; both where neither says what the other
 * does. `html` is the text of its HTML.
 */
export const fullerText = (text: string, html: string): string => {
  const plain = text.trim();
  if (plain.length > HINT_CHARS) return text;
  const [known, shown] = [wordsOf(plain), wordsOf(html)];
  const missing = [...shown].filter((word) => !known.has(word)).length;
  if (shown.size === 0 || 2 * missing < shown.size) return text;
  const isHint = HINT.test(plain) || [...known].every((word) => shown.has(word));
  return isHint ? html : `${plain}\n\n${html}`;
};

const wordsOf = (text: string): Set<string> =>
  new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
