import type { Extraction } from './job.js';

/** Extracts plain text. */
export const extractText = async (bytes: Buffer, extraction: Extraction): Promise<void> =>
  addText(await decode(bytes), extraction);

/** Extracts the visible text of an HTML page. */
export const extractHtml = async (bytes: Buffer, extraction: Extraction): Promise<void> => {
  const { decodedText } = await import('../../providers/pages/charset.js');
  const { textOfMarkup } = await import('./markup.js');
  addText(textOfMarkup(decodedText(bytes, 'text/html')), extraction);
};

/** Ours: the most characters of a page of a text that has no pages of its own. */
const FLOW_CHARS = 100_000;

/** Adds a text that has no pages of its own: as one, or as several if it is too long for that. */
export const addText = (text: string, extraction: Extraction): void => {
  const pages = cutIntoPages(text, Math.min(FLOW_CHARS, extraction.job.limits.pageChars));
  extraction.total(pages.length);
  for (const page of pages) if (!extraction.skip() && !extraction.add(page)) return;
};

/** Cuts a text into pages, each at the end of a line if there is one in its second half. */
const cutIntoPages = (text: string, most: number): string[] => {
  const pages: string[] = [];
  let from = 0;
  while (text.length - from > most) {
    const line = text.lastIndexOf('\n', from + most - 1) + 1;
    const isWhole = !/[\udc00-\udfff]/.test(text[from + most] ?? '');
    const to = line > from + most / 2 ? line : from + most - (isWhole ? 0 : 1);
    pages.push(text.slice(from, to));
    from = to;
  }
  return [...pages, text.slice(from)];
};

/**
 * Decodes text. The guess of a charset is loaded only where it is needed: each document has a
 * process of its own, which starts faster without it.
 */
const decode = async (bytes: Buffer): Promise<string> => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    const { decodedText } = await import('../../providers/pages/charset.js');
    return decodedText(bytes, 'text/plain');
  }
};
