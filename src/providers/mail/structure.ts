import { isAscii } from 'node:buffer';
import type { MessageStructureObject } from 'imapflow';
import { decodeUtf8, findDecoder, findStatedDecoder } from '../pages/charset.js';
import { joinFlowedLines } from './flowed.js';

/** Parameters of a text (RFC 2046, 4.1, and RFC 3676). */
export interface MailTextType {
  charset: string;
  /** `delsp` is `flowed` with the spaces at line ends to be deleted. */
  format?: 'flowed' | 'delsp';
}

export interface MailPart extends MailTextType {
  part: string;
  encoding: string;
  bytes: number;
}

export interface MailFilePart extends MailPart {
  name: string;
  mediaType: string;
}

export interface MailTextParts {
  text: MailPart | null;
  html: MailPart | null;
}

interface MailParts extends MailTextParts {
  files: MailFilePart[];
  /** Parts beyond the limits. */
  omitted: number;
}

/** Listed files, and the depth that is searched. */
const MAX_FILES = 200;
const DEEPEST = 50;

/** BODYSTRUCTURE (RFC 9051, 7.5.2). */
export const collectMailParts = (structure: MessageStructureObject | undefined): MailParts => {
  const found: MailParts = { text: null, html: null, files: [], omitted: 0 };
  if (structure) visit(structure, found, 0);
  return found;
};

const visit = (node: MessageStructureObject, found: MailParts, depth: number): void => {
  if (depth > DEEPEST) {
    found.omitted += countParts(node);
    return;
  }
  if (node.type.startsWith('multipart/')) {
    for (const child of node.childNodes ?? []) visit(child, found, depth + 1);
    return;
  }
  const part = toMailPart(node);
  const isFile = node.disposition === 'attachment' || getAttachmentFileName(node) !== '';
  if (!isFile && node.type === 'text/plain' && !found.text) found.text = part;
  else if (!isFile && node.type === 'text/html' && !found.html) found.html = part;
  else if (found.files.length < MAX_FILES) {
    const mediaType = node.type.slice(0, 100).replace(/\p{C}/gu, '_');
    found.files.push({ ...part, name: getAttachmentFileName(node) || 'unnamed', mediaType });
  } else found.omitted++;
};

/** Without recursion, since its depth is not limited. */
const countParts = (node: MessageStructureObject): number => {
  const rest = [node];
  let count = 0;
  for (let next = rest.pop(); next; next = rest.pop()) {
    if (!next.childNodes?.length) count++;
    for (const child of next.childNodes ?? []) rest.push(child);
  }
  return count;
};

const toMailPart = ({ part, encoding, parameters, size }: MessageStructureObject): MailPart => ({
  // A single-part message has no numbers; its part is 1.
  part: part ?? '1',
  encoding: (encoding ?? '7bit').toLowerCase(),
  ...parseMailTextType(parameters ?? {}),
  bytes: size ?? 0,
});

export const parseMailTextType = ({
  charset = 'utf-8',
  format = '',
  delsp = '',
}: Partial<Record<string, string>>): MailTextType => ({
  charset: charset.slice(0, 40),
  ...(/^flowed$/i.test(format) && { format: /^yes$/i.test(delsp) ? 'delsp' : 'flowed' }),
});

const getAttachmentFileName = ({
  dispositionParameters,
  parameters,
}: MessageStructureObject): string =>
  (dispositionParameters?.filename ?? parameters?.name ?? '')
    // Neither in a folder, nor hidden, nor a command option.
    .replace(/^[./\\\-\s]+/, '')
    .trimEnd()
    .slice(0, 200)
    // After cutting: half of a surrogate pair is one of these.
    .replace(/[\p{C}/\\]/gu, '_');

export const decodedPart = (bytes: Buffer, part: MailPart): string =>
  decodeMailText(decodedBytes(bytes, part.encoding), part);

/** Line ends become line feeds. */
export const decodeMailText = (bytes: Uint8Array, { charset, format }: MailTextType): string => {
  const text = textInCharset(bytes, charset).replace(/\r\n?/g, '\n');
  return format ? joinFlowedLines(text, format === 'delsp') : text;
};

const WINDOWS = new TextDecoder('windows-1252');
/** Names of ASCII, which the WHATWG standard reads as Windows-1252. */
const ASCII = /ascii|ansi_x3|iso646|iso_646|iso-ir-6$/i;

const UTF7 = /^(?:x-)?(?:unicode-\d-\d-)?utf-7$/i;
const UTF16 = new TextDecoder('utf-16be');

/** RFC 2152. The WHATWG standard omits it. */
const decodeUtf7 = (bytes: Uint8Array): string =>
  Buffer.from(bytes)
    .toString('latin1')
    .replace(/\+([A-Za-z0-9+/]*)-?/g, (_, encoded: string) => {
      const units = Buffer.from(encoded, 'base64');
      return encoded === '' ? '+' : UTF16.decode(units.subarray(0, units.length & ~1));
    });

/** Senders often label UTF-8 as ASCII, Windows-1252 as UTF-8, or neither. */
const textInCharset = (bytes: Uint8Array, charset: string): string => {
  if (UTF7.test(charset) && isAscii(bytes)) return decodeUtf7(bytes);
  const named = ASCII.test(charset) ? null : findDecoder(charset);
  const isWrong = named?.encoding.startsWith('utf-16') && isAscii(bytes) && !bytes.includes(0);
  if (named && named.encoding !== 'utf-8' && !isWrong) return named.decode(bytes);
  return decodeUtf8(bytes) ?? (findStatedDecoder(bytes) ?? WINDOWS).decode(bytes);
};

export const decodedBytes = (bytes: Buffer, encoding: string): Buffer => {
  if (encoding === 'base64') return Buffer.from(bytes.toString('latin1'), 'base64');
  if (encoding !== 'quoted-printable') return bytes;
  const text = bytes
    .toString('latin1')
    // Starts before the blanks, to avoid quadratic time.
    .replace(/(^|[^ \t])[ \t]+(?=\r?\n)/g, '$1')
    .replace(/=\r?\n/g, '')
    .replace(/=([0-9A-Fa-f]{2})/g, (_, digits: string) =>
      String.fromCharCode(Number.parseInt(digits, 16)),
    );
  return Buffer.from(text, 'latin1');
};

/**
 * Size after decoding, from the encoded size. Of base64 with lines of 76 characters: the padding is
 * unknown, so up to 2 bytes too large.
 */
export const estimateDecodedSize = ({ encoding, bytes }: Pick<MailPart, 'encoding' | 'bytes'>) =>
  encoding === 'base64' ? Math.floor((bytes - 2 * Math.floor(bytes / 78)) / 4) * 3 : bytes;

/** Piecewise; null ends it. */
export const createPartDecoder = (encoding: string): ((piece: Buffer | null) => Buffer) => {
  let rest = '';
  return (piece) => {
    if (encoding !== 'base64' && encoding !== 'quoted-printable') return piece ?? Buffer.alloc(0);
    const text = rest + (piece?.toString('latin1') ?? '');
    const whole = encoding === 'base64' ? text.replace(/[^A-Za-z0-9+/=]/g, '') : text;
    const end = piece === null ? whole.length : unitsIn(whole, encoding);
    rest = whole.slice(end);
    return decodedBytes(Buffer.from(whole.slice(0, end), 'latin1'), encoding);
  };
};

const unitsIn = (text: string, encoding: string): number => {
  if (encoding === 'base64') return text.length - (text.length % 4);
  const from = Math.max(0, text.length - MAX_OPEN);
  return from + text.slice(from).search(OPEN_END);
};

/** A quoted-printable end that may continue: an escape, or trailing blanks. */
const OPEN_END = /(?:=[0-9A-Fa-f]?|=?[ \t]+)?\r?$/;
/** Lines have at most 76 characters (RFC 2045, 6.7). */
const MAX_OPEN = 1000;
