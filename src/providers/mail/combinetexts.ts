/** A short plain text may only say that there is HTML. */
export const MAX_HINT_LENGTH = 400;
const HINT = /\bhtml\b|\bbrowser\b/i;

/**
 * The plain part (RFC 2046, 5.1.4) unless it is blank or a hint such as `Your client cannot show
 * HTML`; both if they differ.
 */
export const combineTexts = (text: string, html: string): string => {
  const plain = text.trim();
  if (plain.length > MAX_HINT_LENGTH) return text;
  const [known, shown] = [toWordSet(plain), toWordSet(html)];
  const missing = [...shown].filter((word) => !known.has(word)).length;
  if (shown.size === 0 || 2 * missing < shown.size) return text;
  const isHint = HINT.test(plain) || [...known].every((word) => shown.has(word));
  return isHint ? html : `${plain}\n\n${html}`;
};

const toWordSet = (text: string): Set<string> =>
  new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
