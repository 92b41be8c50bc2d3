import { posix } from 'node:path';
import { DOMParser } from 'linkedom';
import { decodedText } from '../../providers/pages/charset.js';
import { checkArchive, readArchive } from './archive.js';
import { ExtractFailed, type Extraction } from './job.js';
import { textOfMarkup } from './markup.js';

const CONTAINER = 'META-INF/container.xml';

/** Extracts the text of an EPUB book (EPUB 3.3). Each document of its reading order is a page. */
export const extractEpub = async (bytes: Buffer, extraction: Extraction): Promise<void> => {
  await checkArchive(bytes, extraction.job.limits.unpackedBytes);
  const files = await readArchive(bytes, (name) => /\.(x?html?|opf|xml)$/i.test(name));
  const chapters = readingOrder(files);
  extraction.total(chapters.length);
  for (const name of chapters) {
    if (extraction.skip()) continue;
    const chapter = files.get(name);
    if (!chapter) extraction.note(`${name.slice(0, 100)} is missing in the book.`);
    if (!extraction.add(chapter ? textOfMarkup(decodedText(chapter, 'application/xhtml+xml')) : ''))
      break;
  }
};

const readingOrder = (files: Map<string, Buffer>): string[] => {
  const container = parsed(files, CONTAINER);
  const path = container.querySelector('rootfile')?.getAttribute('full-path') ?? '';
  const book = parsed(files, path);
  const hrefs = new Map<string | null, string>();
  for (const item of book.querySelectorAll('manifest > item')) {
    hrefs.set(item.getAttribute('id'), item.getAttribute('href') ?? '');
  }
  return [...book.querySelectorAll('spine > itemref')].map((item) => {
    const href = hrefs.get(item.getAttribute('idref')) ?? '';
    return posix.join(posix.dirname(path), decodeURI(href));
  });
};

/** The part of a parsed XML document that is used here. */
interface XmlDocument {
  querySelector(selector: string): XmlElement | null;
  querySelectorAll(selector: string): Iterable<XmlElement>;
}
interface XmlElement {
  getAttribute(name: string): string | null;
}

const parsed = (files: Map<string, Buffer>, name: string): XmlDocument => {
  const file = files.get(name);
  if (!file) throw new ExtractFailed('damaged', 'The book lacks its table of files');
  return new DOMParser().parseFromString(file.toString(), 'text/xml');
};
