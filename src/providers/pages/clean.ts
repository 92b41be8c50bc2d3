/**
 * Tokens of chat templates for turns, instructions and tools. In Markdown, their characters may be
 * escaped.
 */
const TOKENS = new RegExp(
  [
    String.raw`\\?<\\?[|｜][^|｜<>\n]{1,80}[|｜]\\?>`,
    String.raw`\\?\[/?(?:INST|SYS|SYSTEM\\?_PROMPT|AVAILABLE\\?_TOOLS|TOOL\\?_CALLS|TOOL\\?_RESULTS)\\?\]`,
    String.raw`\\?<\\?<\\?/?SYS\\?>\\?>`,
    String.raw`\\?</?(?:start\\?_of\\?_turn|end\\?_of\\?_turn|tool\\?_call|tool\\?_response|bos|eos|s)\\?>`,
  ].join('|'),
  'g',
);

/** Invisible characters, except emoji variation selectors. */
const INVISIBLE = /(?![\n\t]|\ufe0e|\ufe0f)(?:\p{Cc}|\p{Cf}|\p{Default_Ignorable_Code_Point})/gu;
const JOINERS = '\u200c\u200d';
/** Scripts and emoji that use joiners. */
const SHAPED = new RegExp(
  `(?:\\p{Extended_Pictographic}|\\p{Emoji_Modifier}|\\ufe0f|\\p{M}|${[
    ...['Arabic', 'Devanagari', 'Bengali', 'Tamil', 'Telugu', 'Kannada', 'Malayalam', 'Gujarati'],
    ...['Gurmukhi', 'Oriya', 'Sinhala', 'Khmer', 'Mongolian'],
  ]
    .map((script) => `\\p{sc=${script}}`)
    .join('|')})$`,
  'u',
);

/** After this number of rounds, a text that keeps forming new tokens is hostile. */
export const MAX_ROUNDS = 50;

export const removeTokenSigns = (text: string): string => text.replace(/[<>[\]|｜]/g, '');

/** Also removes tokens that form when others are removed. */
export const removeTokens = (text: string): string => {
  let rest = text;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const next = rest.replace(TOKENS, '');
    if (next === rest) return rest;
    rest = next;
  }
  return removeTokenSigns(rest);
};

export const tokensIn = (text: string): { from: number; to: number }[] =>
  [...text.matchAll(TOKENS)].map(({ index, 0: token }) => ({
    from: index,
    to: index + token.length,
  }));

/** Keeps joiners in scripts and emoji that use them. */
export const removeInvisible = (raw: string): string => {
  const text = raw.replace(/\r\n?/g, '\n');
  return text.replace(INVISIBLE, (character, at: number) =>
    JOINERS.includes(character) && SHAPED.test(text.slice(Math.max(0, at - 2), at))
      ? character
      : '',
  );
};

export const cleanText = (text: string): string => removeTokens(removeInvisible(text));

export const cleanLine = (text: string | null | undefined, most: number): string | null => {
  const line = cleanText((text ?? '').slice(0, most * 4))
    .replace(/\s+/g, ' ')
    .trim();
  const characters = Array.from(line);
  const cut = characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : line;
  return cut === '' ? null : cut;
};
