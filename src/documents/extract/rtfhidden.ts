interface RtfGroup {
  isHidden: boolean;
  isDeleted: boolean;
  /** Number of characters that replace a Unicode character (`\uc`). */
  fallback: number;
}

/** RTF 1.9.1: a control word with its parameter, a byte, a control symbol, a brace, or text. */
const TOKEN = /\\([a-z]+)(-?\d+)? ?|\\'[\da-f]{2}|\\[^a-z]|[{}]|[^\\{}]+/giy;
const HIDES = /\\(?:v|deleted)(?![a-z])/i;

/** Leaves out hidden text and tracked deletions. Counts the characters of hidden text. */
export const withoutHidden = (bytes: Buffer): { bytes: Buffer; hiddenChars: number } => {
  const rtf = bytes.toString('latin1');
  if (!rtf.startsWith('{\\rtf') || !HIDES.test(rtf)) return { bytes, hiddenChars: 0 };
  const outer: RtfGroup[] = [];
  const kept: string[] = [];
  let group: RtfGroup = { isHidden: false, isDeleted: false, fallback: 1 };
  let hiddenChars = 0;
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(rtf); match; match = TOKEN.exec(rtf)) {
    const [token, word, parameter] = match;
    const isOn = parameter !== '0';
    if (token === '{') outer.push({ ...group });
    else if (token === '}') group = outer.pop() ?? group;
    else if (word === 'v') group.isHidden = isOn;
    else if (word === 'deleted') group.isDeleted = isOn;
    else if (word === 'plain') group.isHidden = false;
    else if (word === 'uc') group.fallback = Number(parameter ?? 1);
    else if (word === 'bin') {
      kept.push(token, rtf.slice(TOKEN.lastIndex, TOKEN.lastIndex + Number(parameter ?? 0)));
      TOKEN.lastIndex += Number(parameter ?? 0);
      continue;
    } else if ((group.isHidden || group.isDeleted) && isText(token, word)) {
      if (!group.isDeleted) hiddenChars += word === 'u' ? 1 - group.fallback : countChars(token);
      continue;
    }
    kept.push(token);
  }
  return { bytes: Buffer.from(kept.join(''), 'latin1'), hiddenChars };
};

/** Control words for characters. Others end paragraphs and cells, or set formats. */
const CHARACTERS = new Set([
  ...['u', 'tab', 'line', 'lquote', 'rquote', 'ldblquote', 'rdblquote', 'bullet', 'emdash'],
  ...['endash', 'emspace', 'enspace'],
]);

/** A backslash at a line end ends a paragraph. */
const isText = (token: string, word: string | undefined): boolean =>
  word === undefined ? !/^\\[*\r\n]/.test(token) : CHARACTERS.has(word);

const countChars = (token: string): number =>
  token.startsWith('\\') ? 1 : token.replace(/[\r\n]/g, '').length;
