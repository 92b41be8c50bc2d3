import type { Extraction } from './job.js';

/** Extracts plain text. */
export const extractText = async (bytes: Buffer, extraction: Extraction): Promise<void> => {
  extraction.total(1);
  if (!extraction.skip()) extraction.add(await decode(bytes));
};

/** Extracts the visible text of an HTML page. */
export const extractHtml = async (bytes: Buffer, extraction: Extraction): Promise<void> => {
  const { decodedText } = await import('../../providers/pages/charset.js');
  const { textOfMarkup } = await import('./markup.js');
  extraction.total(1);
  if (!extraction.skip()) extraction.add(textOfMarkup(decodedText(bytes, 'text/html')));
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
