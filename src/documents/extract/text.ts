import type { Extraction } from './job.js';

/** Extracts plain text. Bytes that are no UTF-8 are read as Windows-1252. */
export const extractText = async (bytes: Buffer, extraction: Extraction): Promise<void> => {
  extraction.total(1);
  if (!extraction.skip()) extraction.add(decode(bytes));
};

/** Extracts the text of an HTML page. */
export const extractHtml = async (bytes: Buffer, extraction: Extraction): Promise<void> => {
  const { textOfMarkup } = await import('./markup.js');
  extraction.total(1);
  if (!extraction.skip()) extraction.add(textOfMarkup(decode(bytes)));
};

/** Decodes text by its mark (BOM), as UTF-8, or as Windows-1252 if it is neither. */
const decode = (bytes: Buffer): string => {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
};
