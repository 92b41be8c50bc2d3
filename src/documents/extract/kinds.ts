import { extname } from 'node:path';

export type KindFamily = 'pdf' | 'picture' | 'office' | 'book' | 'html' | 'text' | 'mail';

interface FileKind {
  family: KindFamily;
  endings: string[];
}

const OOXML = 'application/vnd.openxmlformats-officedocument';
const ODF = 'application/vnd.oasis.opendocument';

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

/** Text types are detected by name, all others by content. */
const IS_TEXT = new Set<KindFamily>(['html', 'text', 'mail']);
/** For an encrypted office file, the name decides. */
const COMPOUND = 'application/x-cfb';
/** Control characters that occur only in binary formats (ECMA-48). Logs contain ESC for colours. */
const CONTROLS = /[\x00-\x07\x0e-\x1a\x1c-\x1f]/;
export const HEAD_BYTES = 256 * 1024;

/** Returns null if the type is unknown. */
export const detectMediaType = async (bytes: Uint8Array, name: string): Promise<string | null> => {
  const head = bytes.subarray(0, HEAD_BYTES);
  const named = byName(name);
  // First, because the UTF-16 mark resembles an audio file.
  if (isUtf16(head)) return isTextKind(named) ? named : null;
  // Text may begin with the signature of another format: `BM and I went home`.
  if (isTextKind(named) && !CONTROLS.test(Buffer.from(head).toString('latin1'))) return named;
  const { fileTypeFromBuffer } = await import('file-type');
  const found = await fileTypeFromBuffer(head).catch(() => undefined);
  const mime = found?.mime;
  if (mime !== undefined && mime in MEDIA_TYPES) return mime;
  if (mime === COMPOUND || mime === 'application/zip') {
    return named && MEDIA_TYPES[named]?.family === 'office' ? named : null;
  }
  // The TIFF directory may be at the end of the file. It distinguishes TIFF from raw camera images.
  if (mime === undefined && named === TIFF && isTiff(head)) return TIFF;
  if (mime !== undefined && mime !== 'application/xml') return null;
  return isTextKind(named) && !head.includes(0) ? named : null;
};

const TIFF = 'image/tiff';

/** TIFF 6.0, section 2. */
const isTiff = (head: Uint8Array): boolean =>
  ['II*\0', 'MM\0*'].includes(Buffer.from(head.subarray(0, 4)).toString('latin1'));

const isTextKind = (named: string | null): boolean =>
  named !== null && IS_TEXT.has(MEDIA_TYPES[named]?.family ?? 'pdf');

const byName = (name: string): string | null => {
  const ending = extname(name).toLowerCase();
  const kind = Object.entries(MEDIA_TYPES).find(([, { endings }]) => endings.includes(ending));
  return kind?.[0] ?? null;
};

const isUtf16 = (head: Uint8Array): boolean => {
  const isLittle = head[0] === 0xff && head[1] === 0xfe;
  if (!isLittle && !(head[0] === 0xfe && head[1] === 0xff)) return false;
  return !new TextDecoder(isLittle ? 'utf-16le' : 'utf-16be').decode(head).includes('\0');
};
