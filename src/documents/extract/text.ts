import { isUtf8 } from 'node:buffer';
import { isJsonText } from '../../kernel/jsonvalue.js';
import type { Extraction } from './job.js';
import { decodeWide } from './unicode.js';

export const textExtractor =
  (mediaType: string) =>
  async (bytes: Buffer, extraction: Extraction): Promise<void> =>
    addText(
      await readableText(await decodeFile(bytes, mediaType, extraction), mediaType),
      extraction,
    );

/** Replaces escapes and line folds that would divide or hide words. */
export const readableText = async (text: string, mediaType: string): Promise<string> => {
  if (mediaType === 'application/json') return readableJson(text);
  if (mediaType === 'application/x-ndjson') return text.split('\n').map(readableJson).join('\n');
  if (mediaType !== 'text/calendar' && mediaType !== 'text/vcard') return text;
  // RFC 5545, 3.1 and 3.3.11, and RFC 6350, 3.2 and 3.4.
  const unfolded = (await decodeQuoted(text, mediaType)).replace(/\r?\n[ \t]/g, '');
  return unfolded.replace(/\\([\\;,n])/gi, (_, sign) => (/n/i.test(sign) ? '\n' : sign));
};

const decodeQuoted = async (text: string, mediaType: string): Promise<string> =>
  mediaType === 'text/vcard' && /QUOTED-PRINTABLE/i.test(text)
    ? (await import('./vcard.js')).decodeQuotedProperties(text)
    : text;

/** RFC 8259, 7. */
const JSON_ESCAPE = /\\(?:ud[89ab][\da-f]{2}\\ud[c-f][\da-f]{2}|u[\da-f]{4}|[^u])/gi;
/** Quotes and backslashes keep strings apart. Half a surrogate pair is no character. */
const KEEPS_ESCAPE = /["\\\p{Cs}]|(?![\t\n\r])\p{Cc}/u;

const readableJson = (text: string): string => {
  if (!text.includes('\\') || !isJsonText(text)) return text;
  return text.replace(JSON_ESCAPE, (sign) => {
    const value: string = JSON.parse(`"${sign}"`);
    return KEEPS_ESCAPE.test(value) ? sign : value;
  });
};

export const extractHtml = async (bytes: Buffer, extraction: Extraction): Promise<void> => {
  const { titleAndText } = await import('./markup.js');
  const { title, text } = titleAndText(await decodeFile(bytes, 'text/html', extraction));
  extraction.title(title);
  addText(text, extraction);
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

const decodeFile = async (
  bytes: Buffer,
  mediaType: string,
  extraction: Extraction,
): Promise<string> => {
  const wide = decodeWide(bytes);
  if (wide !== null) return wide;
  const text = await decodeOrNote(bytes, mediaType, extraction);
  if (!text.includes('\0')) return text;
  extraction.note('The file contains NUL bytes, which are left out.');
  return text.replace(/\0+/g, ' ');
};

/** Charset detection is loaded on demand, because each document has its own process. */
const decodeOrNote = async (
  bytes: Buffer,
  mediaType: string,
  extraction: Extraction,
): Promise<string> => {
  if (mediaType !== 'text/html' && isUtf8(bytes)) return new TextDecoder().decode(bytes);
  const { decodeOrGuess } = await import('../../providers/pages/charset.js');
  const { text, uncertainEncoding } = decodeOrGuess(bytes, mediaType);
  if (uncertainEncoding !== null) {
    extraction.note(
      `The encoding of the text is uncertain. It was read as ${uncertainEncoding}. If characters are wrong, save the file as UTF-8.`,
    );
  }
  return text;
};
