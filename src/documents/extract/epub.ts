import { posix } from 'node:path';
import { decodeText } from '../../providers/pages/charset.js';
import {
  type ArchiveFile,
  type ArchiveFiles,
  bytesIn,
  checkArchive,
  createFirstUse,
  fileIn,
  listArchive,
} from './archive.js';
import { ExtractFailed, type Extraction } from './job.js';
import { textOfMarkup } from './markup.js';
import { createTitleReader } from './xmltitle.js';
import { walkXml, type XmlVisitor } from './xmlwalk.js';

const CONTAINER = 'META-INF/container.xml';

/** EPUB 3.3. Each document in the reading order is a page. */
export const extractEpub = async (bytes: Buffer, extraction: Extraction): Promise<void> => {
  await checkArchive(bytes, extraction.job.limits.unpackedBytes);
  const files = await listArchive(bytes);
  const { title, chapters } = await readBook(files);
  if (chapters.length === 0) throw new ExtractFailed('damaged', 'The EPUB file lists no chapters');
  extraction.total(chapters.length);
  extraction.title(title);
  const readChapter = createChapterReader(files);
  for (const { path, file } of chapters) {
    if (extraction.skip()) continue;
    if (!file) extraction.note(`${path.slice(0, 100)} is missing from the book.`);
    if (!extraction.add(file ? await readChapter(path, file) : '')) break;
  }
};

const MAX_LINKS = 20;
const MAX_STYLE_CHARS = 100_000;

/** Reads chapters with the style sheets that they link, by whose classes books hide text. */
const createChapterReader = (files: ArchiveFiles) => {
  const known = new Map<string, string>();
  const readStyles = async (folder: string, link: string): Promise<string> => {
    const href = /\bhref\s*=\s*["']([^"']+)/i.exec(link)?.[1];
    if (href === undefined || !/\brel\s*=\s*["']?stylesheet\b/i.test(link)) return '';
    const { path, file } = findFile(files, folder, href);
    // A book is readable without its styles.
    const css = known.get(path) ?? (file ? await readHead(file).catch(() => '') : '');
    known.set(path, css);
    return css;
  };
  return async (path: string, file: ArchiveFile): Promise<string> => {
    const html = decodeText(await bytesIn(file), 'application/xhtml+xml');
    const links = html.match(/<link\b[^>]{1,1000}>/gi) ?? [];
    let styles = '';
    for (const link of links.slice(0, MAX_LINKS)) {
      styles += await readStyles(posix.dirname(path), link);
    }
    return textOfMarkup(html, styles.slice(0, MAX_STYLE_CHARS));
  };
};

const readHead = async (file: ArchiveFile): Promise<string> => {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of await file()) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes >= MAX_STYLE_CHARS) break;
  }
  return Buffer.concat(pieces).toString('utf8', 0, MAX_STYLE_CHARS);
};

interface BookFile {
  path: string;
  file: ArchiveFile | undefined;
}

/** Title and reading order (EPUB 3.3, sections 5.5 and 5.7). */
const readBook = async (
  files: ArchiveFiles,
): Promise<{ title: string | null; chapters: BookFile[] }> => {
  let path = '';
  await walkBook(findFile(files, '', CONTAINER), {
    open: (name, attributes) => {
      if (name === 'rootfile') path ||= attributes['full-path'] ?? '';
    },
  });
  const hrefs = new Map<string, string>();
  const spine: string[] = [];
  const book = findFile(files, '', path);
  const { visitor, title } = createTitleReader('metadata');
  await walkBook(book, {
    ...visitor,
    open: (name, attributes, parent) => {
      visitor.open(name, attributes, parent);
      const { id = '', href = '', idref = '' } = attributes;
      if (name === 'item' && parent === 'manifest') hrefs.set(id, href);
      if (name === 'itemref' && parent === 'spine') spine.push(idref);
    },
  });
  const folder = posix.dirname(book.path);
  const isFirst = createFirstUse(files);
  const chapters = spine
    .map((id) => findFile(files, folder, hrefs.get(id) ?? ''))
    .filter((chapter) => isFirst(chapter.path));
  return { title: title(), chapters };
};

const walkBook = async ({ file }: BookFile, visitor: XmlVisitor): Promise<void> => {
  if (!file)
    throw new ExtractFailed(
      'damaged',
      'The EPUB file is damaged: its package document (OPF) is missing',
    );
  await walkXml(await file(), visitor);
};

/**
 * Resolves an address relative to a folder (RFC 3986, section 4.2). Some programs do not escape `%`
 * and `#` in names.
 */
const findFile = (files: ArchiveFiles, folder: string, href: string): BookFile => {
  const [address = ''] = href.split('#');
  const names = [address.split('/').map(decodedSegment).join('/'), address, href];
  const paths = names.map((name) => posix.join('/', folder, name).slice(1));
  const path = paths.find((each) => fileIn(files, each)) ?? paths[0] ?? '';
  return { path, file: fileIn(files, path) };
};

const decodedSegment = (segment: string): string => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
};
