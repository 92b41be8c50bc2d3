import { removeHidden } from './hide.js';
import { cleanTexts } from './sanitize.js';
import { type PageDocument, parsePage } from './tree.js';

/**
 * Parses HTML without what nobody sees: hidden elements, invisible characters and chat-template
 * tokens. Throws PageUnreadable.
 */
export const visibleDocument = (html: string): PageDocument => {
  const tree = parsePage(html);
  removeHidden(tree);
  cleanTexts(tree.document.body);
  return tree.document;
};
