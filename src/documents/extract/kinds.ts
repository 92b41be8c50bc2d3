import { extname } from 'node:path';

/** The way in which the text of a kind of file is extracted. */
export type KindFamily = 'pdf' | 'picture' | 'office' | 'book' | 'html' | 'text' | 'mail';

/** A kind of file: its way, and the endings of its names. */
interface FileKind {
  family: KindFamily;
  endings: string[];
}

const OOXML = 'application/vnd.openxmlformats-officedocument';
const ODF = 'application/vnd.oasis.opendocument';

/** The kinds of files whose text can be extracted, by their media types. */
export const MEDIA_TYPES: Readonly<Record<string, FileKind>> = {
  'application/pdf': { family: 'pdf', endings: ['.pdf'] },
  'image/png': { family: 'picture', endings: ['.png'] },
  'image/jpeg': { family: 'picture', endings: ['.jpg', '.jpeg'] },
  'image/webp': { family: 'picture', endings: ['.webp'] },
  'image/tiff': { family: 'picture', endings: ['.tif', '.tiff'] },
  'image/bmp': { family: 'picture', endings: ['.bmp'] },
  'image/gif': { family: 'picture', endings: ['.gif'] },
  [`${OOXML}.wordprocessingml.document`]: { family: 'office', endings: ['.docx'] },
  [`${OOXML}.spreadsheetml.sheet`]: { family: 'office', endings: ['.xlsx'] },
  [`${OOXML}.presentationml.presentation`]: { family: 'office', endings: ['.pptx'] },
  [`${ODF}.text`]: { family: 'office', endings: ['.odt'] },
  [`${ODF}.spreadsheet`]: { family: 'office', endings: ['.ods'] },
  [`${ODF}.presentation`]: { family: 'office', endings: ['.odp'] },
  'application/rtf': { family: 'office', endings: ['.rtf'] },
  'application/epub+zip': { family: 'book', endings: ['.epub'] },
  'text/html': { family: 'html', endings: ['.html', '.htm', '.xhtml'] },
  'text/markdown': { family: 'text', endings: ['.md', '.markdown'] },
  'text/plain': { family: 'text', endings: ['.txt', '.text', '.log'] },
  'text/csv': { family: 'text', endings: ['.csv', '.tsv'] },
  'application/json': { family: 'text', endings: ['.json'] },
  'message/rfc822': { family: 'mail', endings: ['.eml'] },
};

/** Kinds that are told by their content alone; the others are text, told by their names. */
const IS_TEXT = new Set<KindFamily>(['html', 'text', 'mail']);
/** The name of an encrypted office file tells its kind, which its content hides. */
const COMPOUND = 'application/x-cfb';
/** Characters that no text has, and the binary formats do (ECMA-48). Logs have ESC for colours. */
const CONTROLS = /[\x00-\x07\x0e-\x1a\x1c-\x1f]/;
/** The bytes at the beginning of a file that are looked at. */
export const HEAD_BYTES = 256 * 1024;

/** Returns the media type of a file by its first bytes and its name; null if it is not known. */
export const kindOf = async (bytes: Uint8Array, name: string): Promise<string | null> => {
  const head = bytes.subarray(0, HEAD_BYTES);
  const named = byName(name);
  // Comes first: the mark of UTF-16 is like the beginning of an audio file.
  if (isUtf16(head)) return isTextKind(named) ? named : null;
  // A text may begin with letters that are the mark of another format: `BM and I went home`.
  if (isTextKind(named) && !CONTROLS.test(Buffer.from(head).toString('latin1'))) return named;
  const { fileTypeFromBuffer } = await import('file-type');
  const found = await fileTypeFromBuffer(head).catch(() => undefined);
  const mime = found?.mime;
  if (mime !== undefined && mime in MEDIA_TYPES) return mime;
  if (mime === COMPOUND || mime === 'application/zip') {
    return named && MEDIA_TYPES[named]?.family === 'office' ? named : null;
  }
  // Its directory, by which it is told from the raw pictures of cameras, may stand at its end.
  if (mime === undefined && named === TIFF && isTiff(head)) return TIFF;
  if (mime !== undefined && mime !== 'application/xml') return null;
  return isTextKind(named) && !head.includes(0) ? named : null;
};

const TIFF = 'image/tiff';

/** True if the bytes begin with the header of a TIFF file (TIFF 6.0, section 2). */
const isTiff = (head: Uint8Array): boolean =>
  ['II*\0', 'MM\0*'].includes(Buffer.from(head.subarray(0, 4)).toString('latin1'));

const isTextKind = (named: string | null): boolean =>
  named !== null && IS_TEXT.has(MEDIA_TYPES[named]?.family ?? 'pdf');

const byName = (name: string): string | null => {
  const ending = extname(name).toLowerCase();
  const kind = Object.entries(MEDIA_TYPES).find(([, { endings }]) => endings.includes(ending));
  return kind?.[0] ?? null;
};

/** True if the bytes begin with the mark of UTF-16, and hold no NUL character. */
const isUtf16 = (head: Uint8Array): boolean => {
  const isLittle = head[0] === 0xff && head[1] === 0xfe;
  if (!isLittle && !(head[0] === 0xfe && head[1] === 0xff)) return false;
  return !new TextDecoder(isLittle ? 'utf-16le' : 'utf-16be').decode(head).includes('\0');
};
