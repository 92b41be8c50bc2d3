import type { Extraction } from './job.js';

export const extractText = async (bytes: Buffer, extraction: Extraction): Promise<void> =>
  addText(await decode(bytes), extraction);

export const extractHtml = async (bytes: Buffer, extraction: Extraction): Promise<void> => {
  const { decodeText } = await import('../../providers/pages/charset.js');
  const { textOfMarkup } = await import('./markup.js');
  addText(textOfMarkup(decodeText(bytes, 'text/html')), extraction);
};

/** Maximum length of a page in a text without pages. */
const FLOW_CHARS = 100_000;

export const addText = (text: string, extraction: Extraction): void => {
  const pages = cutIntoPages(text, Math.min(FLOW_CHARS, extraction.job.limits.pageChars));
  extraction.total(pages.length);
  for (const page of pages) if (!extraction.skip() && !extraction.add(page)) return;
};

/** Cuts at a line end in the second half of a page, if there is one. */
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

/** Charset detection is loaded on demand, because each document has its own process. */
const decode = async (bytes: Buffer): Promise<string> => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    const { decodeText } = await import('../../providers/pages/charset.js');
    return decodeText(bytes, 'text/plain');
  }
};
