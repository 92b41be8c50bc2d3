import type { TextRun } from './lines.js';

/** Longer URLs are truncated and not linked. */
const MAX_ADDRESS_LENGTH = 2000;
const LINKED = /^(?:https?:\/\/[^/]|mailto:[^/])/i;
/** Characters invalid or invisible in a URL. */
const INVISIBLE = /[\s\p{C}\p{Z}"<>\\^`{|}]/gu;

const percentEncoded = (character: string): string => encodeURIComponent(character);

/**
 * A link only for web pages and mailboxes. Others, such as `tg://`, are code, so that no platform
 * links or mentions.
 */
export const addressRuns = (address: string): TextRun[] => {
  const url = address.replace(INVISIBLE, percentEncoded);
  if (url.length > MAX_ADDRESS_LENGTH) {
    return [{ text: `${url.slice(0, MAX_ADDRESS_LENGTH)}…`, isCode: true }];
  }
  return LINKED.test(url) ? [{ text: url, url }] : [{ text: url, isCode: true }];
};

/** The URL follows the text, so that every target is visible. Shown once if they are equal. */
export const linkRuns = (words: TextRun[], address: string): TextRun[] => {
  const content = words.map(({ text }) => text).join('');
  if (content.trim() === '' || content === address) return addressRuns(address);
  if (address === '' || `mailto:${content}` === address) return words;
  return [...words, { text: ' (' }, ...addressRuns(address), { text: ')' }];
};
