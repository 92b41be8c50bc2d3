import type { TextRun } from './lines.js';

/** Ours: a longer address is shown cut, and is no link. */
const MAX_ADDRESS_LENGTH = 2000;
const LINKED = /^(?:https?:\/\/[^/]|mailto:[^/])/i;
/** Characters that an address cannot hold, or that a reader cannot see in it. */
const UNSEEN = /[\s\p{C}\p{Z}"<>\\^`{|}]/gu;

const percentEncoded = (character: string): string => encodeURIComponent(character);

/**
 * Returns the runs that show an address. It is a link if it leads to a web page or a mailbox. Any
 * other, such as `tg://`, is code, in which no platform sees a link or a mention.
 */
export const addressRuns = (address: string): TextRun[] => {
  const url = address.replace(UNSEEN, percentEncoded);
  if (url.length > MAX_ADDRESS_LENGTH) {
    return [{ text: `${url.slice(0, MAX_ADDRESS_LENGTH)}…`, isCode: true }];
  }
  return LINKED.test(url) ? [{ text: url, url }] : [{ text: url, isCode: true }];
};

/**
 * Returns the runs of a link: its words, and behind them the address, so that no link leads to a
 * place that is not shown. A link whose words are its address shows it once.
 */
export const linkRuns = (words: TextRun[], address: string): TextRun[] => {
  const said = words.map(({ text }) => text).join('');
  if (said.trim() === '' || said === address) return addressRuns(address);
  if (address === '' || `mailto:${said}` === address) return words;
  return [...words, { text: ' (' }, ...addressRuns(address), { text: ')' }];
};
