/** Maximum characters of a text in an event. The transcript contains the whole text. */
const IN_EVENT = 16_384;

export const excerpt = (text: string, most = IN_EVENT): string => {
  if (text.length <= most) return text;
  const kept = truncateText(text, most);
  return `${kept}\n… ${text.length - kept.length} more characters`;
};

/** Does not split a surrogate pair. */
export const truncateText = (text: string, most: number): string => {
  if (text.length <= most) return text;
  const isHalfPair = /[\ud800-\udbff]/.test(text.charAt(most - 1));
  return text.slice(0, isHalfPair ? most - 1 : most);
};

export const truncateArguments = (args: Record<string, unknown>): Record<string, unknown> => {
  const text = JSON.stringify(args);
  return text.length <= IN_EVENT ? args : { truncated: true, text: text.slice(0, IN_EVENT) };
};
