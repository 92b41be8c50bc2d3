import { decodedText } from '../../providers/pages/charset.js';
import type { Extraction } from './job.js';

/** Extracts plain text. */
export const extractText = async (bytes: Buffer, extraction: Extraction): Promise<void> => {
  extraction.total(1);
  if (!extraction.skip()) extraction.add(decodedText(bytes, 'text/plain'));
};

/** Extracts the visible text of an HTML page. */
export const extractHtml = async (bytes: Buffer, extraction: Extraction): Promise<void> => {
  const { textOfMarkup } = await import('./markup.js');
  extraction.total(1);
  if (!extraction.skip()) extraction.add(textOfMarkup(decodedText(bytes, 'text/html')));
};
