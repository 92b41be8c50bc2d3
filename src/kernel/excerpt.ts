/** At most this many characters of a text stand in an event; the transcript has it whole. */
const IN_EVENT = 16_384;

/** The text, or its beginning and how much more there was. */
export const excerpt = (text: string, most = IN_EVENT): string => {
  if (text.length <= most) return text;
  const isHalfPair = /[\ud800-\udbff]/.test(text.charAt(most - 1));
  const kept = text.slice(0, isHalfPair ? most - 1 : most);
  return `${kept}\n… ${text.length - kept.length} characters more`;
};

/** Arguments as an event shows them: as they are, or the beginning of their text. */
export const excerptOf = (args: Record<string, unknown>): Record<string, unknown> => {
  const text = JSON.stringify(args);
  return text.length <= IN_EVENT ? args : { truncated: true, text: text.slice(0, IN_EVENT) };
};
