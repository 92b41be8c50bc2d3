import { extname } from 'node:path';
import { decodeMarked, decodeWide } from './unicode.js';

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
  [`${OOXML}.wordprocessingml.document`]: {
    family: 'office',
    endings: ['.docx', '.docm', '.dotx', '.dotm'],
  },
  [`${OOXML}.spreadsheetml.sheet`]: {
    family: 'office',
    endings: ['.xlsx', '.xlsm', '.xltx', '.xltm'],
  },
  [`${OOXML}.presentationml.presentation`]: {
    family: 'office',
    endings: ['.pptx', '.pptm', '.potx', '.potm', '.ppsx', '.ppsm'],
  },
  [`${ODF}.text`]: { family: 'office', endings: ['.odt', '.ott'] },
  [`${ODF}.spreadsheet`]: { family: 'office', endings: ['.ods', '.ots'] },
  [`${ODF}.text-flat-xml`]: { family: 'office', endings: ['.fodt'] },
  [`${ODF}.spreadsheet-flat-xml`]: { family: 'office', endings: ['.fods'] },
  [`${ODF}.presentation`]: { family: 'office', endings: ['.odp', '.otp'] },
  'application/rtf': { family: 'office', endings: ['.rtf'] },
  'application/epub+zip': { family: 'book', endings: ['.epub'] },
  'text/html': { family: 'html', endings: ['.html', '.htm', '.xhtml'] },
  'text/markdown': { family: 'text', endings: ['.md', '.markdown'] },
  'text/plain': { family: 'text', endings: ['.txt', '.text', '.log', '.ini'] },
  'text/csv': { family: 'text', endings: ['.csv', '.tsv'] },
  'text/calendar': { family: 'text', endings: ['.ics'] },
  'text/vcard': { family: 'text', endings: ['.vcf'] },
  'application/json': { family: 'text', endings: ['.json'] },
  'application/x-ndjson': { family: 'text', endings: ['.jsonl', '.ndjson'] },
  'application/yaml': { family: 'text', endings: ['.yaml', '.yml'] },
  'application/toml': { family: 'text', endings: ['.toml'] },
  'application/xml': { family: 'text', endings: ['.xml'] },
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
  if (isBlank(head)) return null;
  const named = byName(name);
  // First, because a byte order mark resembles an audio file.
  const marked = decodeMarked(head);
  if (marked !== null) return isTextKind(named) ? named : textTypeOf(marked, name);
  // Text may begin with the signature of another format: `BM and I went home`.
  if (isTextKind(named) && !CONTROLS.test(Buffer.from(head).toString('latin1'))) return named;
  const { fileTypeFromBuffer } = await import('file-type');
  const found = await fileTypeFromBuffer(head).catch(() => undefined);
  const mime = found && withoutVariant(found.mime);
  if (mime !== undefined && mime !== XML && mime in MEDIA_TYPES) return mime;
  if (mime === COMPOUND || mime === 'application/zip') {
    return named && MEDIA_TYPES[named]?.family === 'office' ? named : null;
  }
  // The TIFF directory may be at the end of the file. It distinguishes TIFF from raw camera images.
  if (mime === undefined && named === TIFF && isTiff(head)) return TIFF;
  if (mime !== undefined && mime !== XML) return null;
  const text = Buffer.from(head).toString('latin1');
  if (text.slice(0, MAX_PDF_OFFSET).includes('%PDF-')) return PDF;
  if (head.includes(0)) {
    return isTextKind(named) && (decodeWide(head) !== null || hasFewNuls(text)) ? named : null;
  }
  if (named?.endsWith(FLAT) && text.includes('<office:document')) return named;
  return isTextKind(named) ? named : textTypeOf(text, name);
};

/**
 * The cause and the remedy for a file without a supported type, as a predicate: the file is the
 * subject. Returns null if there is nothing to say but that the type is unsupported.
 */
export const unsupportedReason = (bytes: Uint8Array, name: string): string | null => {
  if (bytes.length === 0) return 'is empty';
  if (isBlank(bytes)) return 'is empty: it contains only white space';
  const ending = extname(name).toLowerCase();
  const successor = SUCCESSORS.get(ending);
  if (successor) return `has the unsupported file type ${ending}. Save it as ${successor} or PDF`;
  const hasNul = isTextKind(byName(name)) && bytes.subarray(0, HEAD_BYTES).includes(0);
  return hasNul ? NOT_TEXT : null;
};

/** A file of white space, whatever its encoding. */
const isBlank = (bytes: Uint8Array): boolean =>
  bytes.length < HEAD_BYTES &&
  /^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?[\s\0]*$/.test(Buffer.from(bytes).toString('latin1'));

/** Programs that crash or pad leave runs of NUL bytes in their logs. */
const hasFewNuls = (text: string): boolean => {
  const pieces = text.split(/\0+/);
  const chars = pieces.reduce((sum, { length }) => sum + length, 0);
  return pieces.length * MIN_CHARS_PER_NUL <= chars && !CONTROLS.test(pieces.join(''));
};

const MIN_CHARS_PER_NUL = 8;

const NOT_TEXT =
  'contains NUL bytes, but is not text in UTF-16 or in UTF-32 with a byte order mark. Save it as UTF-8 text';
const OLD_OFFICE: [string, string][] = [
  ['.doc', '.docx'],
  ['.xls', '.xlsx'],
  ['.ppt', '.pptx'],
];
const SUCCESSORS = new Map([...OLD_OFFICE, ['.fodp', '.odp']]);

const PDF = 'application/pdf';
const XML = 'application/xml';
/** ODF 1.3, part 3, 3.1.2. */
const FLAT = '-flat-xml';
/** Readers accept other bytes before the PDF header (ISO 32000-1, implementation note 13). */
const MAX_PDF_OFFSET = 1024 + '%PDF-'.length;

const PROLOG = String.raw`^(?:\ufeff|\xef\xbb\xbf)?\s*(?:<\?[^>]*>\s*|<!--(?:(?!-->)[\s\S])*-->\s*)*`;
const HTML = new RegExp(String.raw`${PROLOG}<(?:!doctype\s+html|html)[\s>]`, 'i');
const HTML_PART = new RegExp(String.raw`${PROLOG}<(?:head|meta|style|body|table)[\s>]`, 'i');
/** Header fields of a message, of which one names the version. Web archives begin with them too. */
const MESSAGE = /^(?:[\w-]{1,80}:[^\n]*\n(?:[ \t][^\n]*\n)*)*?MIME-Version:/i;

/** Web applications save text under the name of an office or PDF file. */
const textTypeOf = (text: string, name: string): string | null => {
  if (HTML.test(text)) return 'text/html';
  if (MESSAGE.test(text.slice(0, MAX_HEADER))) return 'message/rfc822';
  const ending = extname(name).toLowerCase();
  if (byName(name) === null && !OLD_OFFICE.some(([old]) => old === ending)) return null;
  if (HTML_PART.test(text)) return 'text/html';
  const isTable = /^\.xlsx?$/.test(ending) && !CONTROLS.test(text) && /[\t,;]/.test(text);
  return isTable ? 'text/csv' : null;
};

const MAX_HEADER = 4096;

/** Templates, slide shows and files with macros have the parts of the plain type. */
const VARIANTS: [RegExp, string][] = [
  [/wordprocessingml|\.ms-word\./, `${OOXML}.wordprocessingml.document`],
  [/spreadsheetml|\.ms-excel\./, `${OOXML}.spreadsheetml.sheet`],
  [/presentationml|\.ms-powerpoint\./, `${OOXML}.presentationml.presentation`],
];

const withoutVariant = (mime: string): string => {
  const variant = VARIANTS.find(([pattern]) => pattern.test(mime));
  return variant ? variant[1] : mime.replace(/-template$/, '');
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
