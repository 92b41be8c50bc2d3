import { cleanLine } from '../../providers/pages/clean.js';
import type { Extraction, ExtractJob, ExtractLine } from './job.js';
import type { Recognizer } from './recognizer.js';

export const openExtraction = (
  job: ExtractJob,
  { write, recognizer }: { write(line: ExtractLine): void; recognizer: Recognizer },
): { extraction: Extraction; notes(): string[] } => {
  const { limits, fromPage } = job;
  const notes = new Set<string>();
  const cutPages: number[] = [];
  const unread: number[] = [];
  let done = 0;
  let chars = 0;
  let recognized = 0;
  let hasText = fromPage > 1;
  let title: string | null = null;
  const isWanted = (): boolean => {
    if (done >= limits.pages) notes.add(`Only the first ${limits.pages} pages were read.`);
    else if (chars >= limits.chars) {
      notes.add(`Only the first ${done} pages (${chars} characters) were read.`);
    } else return true;
    return false;
  };
  const extraction: Extraction = {
    job,
    total: (pages) => write({ pages: Math.min(pages, limits.pages) }),
    title: (text) => {
      title = cleanLine(text, MAX_TITLE_LENGTH);
    },
    add: (content, ocr) => {
      if (!isWanted()) return false;
      done++;
      const text = withTitle(title, content);
      title = null;
      chars += Math.min(text.length, limits.pageChars);
      hasText ||= content.trim() !== '';
      if (text.length > limits.pageChars) cutPages.push(done);
      if (done >= fromPage) {
        write({
          page: done,
          text: tidy(text, limits.pageChars),
          ocr: ocr !== undefined,
          confidence: ocr === undefined ? null : Math.round(ocr.confidence),
        });
      }
      // The next page shows whether a page is missing.
      return true;
    },
    addUnread: () => {
      const isAdded = extraction.add('');
      if (isAdded) unread.push(done);
      return isAdded;
    },
    skip: () => {
      if (done + 1 >= fromPage) return false;
      done++;
      title = null;
      return true;
    },
    note: (sentence) => void notes.add(sentence),
    recognize: async (picture) => {
      if (recognized >= limits.ocrPages) {
        notes.add(`Text was recognized only in the first ${limits.ocrPages} images.`);
        return null;
      }
      recognized++;
      const { result, failure } = await recognizer.recognize(picture);
      if (failure) notes.add(failure);
      // An image without text, such as an empty page, says nothing about the recognition.
      return result !== null && result.text.trim() === '' ? null : result;
    },
  };
  return {
    extraction,
    notes: () => {
      const pages = [...cutNotes(cutPages, limits.pageChars), ...unreadNotes(unread)];
      const all = [...pages, ...notes];
      // Reports a file without any text, whatever its type.
      return !hasText && all.length === 0 ? ['No text was found in the file.'] : all;
    },
  };
};

const MAX_TITLE_LENGTH = 300;

const withTitle = (title: string | null, text: string): string => {
  const flat = (raw: string): string => raw.normalize('NFC').replace(/\s+/g, ' ').toLowerCase();
  return title === null || flat(text).includes(flat(title)) ? text : `# ${title}\n\n${text}`;
};

const unreadNotes = ([first, ...others]: number[]): string[] => {
  if (first === undefined) return [];
  if (others.length === 0) return [`Page ${first} has no readable text.`];
  return [`Page ${first} and ${others.length} more have no readable text.`];
};

const cutNotes = ([first, ...others]: number[], most: number): string[] => {
  if (first === undefined) return [];
  const rest = others.length > 0 ? ` and ${others.length} more` : '';
  return [`Only the first ${most} characters of page ${first}${rest} were read.`];
};

const tidy = (text: string, most: number): string =>
  text
    .slice(0, most)
    .normalize('NFC')
    .replace(/\r\n?/g, '\n')
    .replace(/[\u0000-\u0008\u000B-\u001F\u007F]/g, '')
    .replace(/(?<![^\S\n])[^\S\n]+$/gm, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
