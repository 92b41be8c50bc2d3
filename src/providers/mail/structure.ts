import type { MessageStructureObject } from 'imapflow';

/** One part of a message, by its number in the structure. */
export interface MailPart {
  part: string;
  encoding: string;
  charset: string;
  bytes: number;
}

/** A part that is a file. */
export interface MailFilePart extends MailPart {
  name: string;
  mediaType: string;
}

/** The parts with the text of a message, and with the same in HTML. */
export interface MailTextParts {
  text: MailPart | null;
  html: MailPart | null;
}

/** The parts of a message that are shown: its text, the same in HTML, and its files. */
interface MailParts extends MailTextParts {
  files: MailFilePart[];
}

/** Ours: the most files of a message that are listed, and the deepest part that is looked at. */
const MAX_FILES = 200;
const DEEPEST = 50;

/** Finds the parts of a message by its BODYSTRUCTURE (RFC 9051, 7.5.2). */
export const mailPartsOf = (structure: MessageStructureObject | undefined): MailParts => {
  const found: MailParts = { text: null, html: null, files: [] };
  if (structure) visit(structure, found, 0);
  return found;
};

const visit = (node: MessageStructureObject, found: MailParts, depth: number): void => {
  if (depth > DEEPEST) return;
  if (node.type.startsWith('multipart/')) {
    for (const child of node.childNodes ?? []) visit(child, found, depth + 1);
    return;
  }
  const part = partOf(node);
  const isFile = node.disposition === 'attachment' || nameOf(node) !== '';
  if (!isFile && node.type === 'text/plain' && !found.text) found.text = part;
  else if (!isFile && node.type === 'text/html' && !found.html) found.html = part;
  else if (found.files.length < MAX_FILES) {
    const mediaType = node.type.slice(0, 100);
    found.files.push({ ...part, name: nameOf(node) || 'unnamed', mediaType });
  }
};

const partOf = ({ part, encoding, parameters, size }: MessageStructureObject): MailPart => ({
  // A message of one part has no numbers; its part is number 1.
  part: part ?? '1',
  encoding: (encoding ?? '7bit').toLowerCase(),
  charset: (parameters?.charset ?? 'utf-8').slice(0, 40),
  bytes: size ?? 0,
});

const nameOf = ({ dispositionParameters, parameters }: MessageStructureObject): string =>
  (dispositionParameters?.filename ?? parameters?.name ?? '')
    .trim()
    .slice(0, 200)
    // After it is cut: half of a character that takes two units is one of these.
    .replace(/[\p{C}/\\]/gu, '_')
    // Neither hidden nor an option of a command.
    .replace(/^[.\-\s]+/, '_');

/** Decodes a part, or its beginning, to text. A charset that is not known is read as Windows-1252. */
export const decodedPart = (bytes: Buffer, { encoding, charset }: MailPart): string =>
  textInCharset(decodedBytes(bytes, encoding), charset);

/** Reads bytes as text, whose lines end with a line feed alone. */
export const textInCharset = (bytes: Buffer, charset: string): string =>
  decoderOf(charset).decode(bytes).replace(/\r\n?/g, '\n');

/** Undoes the transfer encoding of a part. */
const decodedBytes = (bytes: Buffer, encoding: string): Buffer => {
  if (encoding === 'base64') return Buffer.from(bytes.toString('latin1'), 'base64');
  if (encoding !== 'quoted-printable') return bytes;
  const text = bytes
    .toString('latin1')
    // Begins at the character before the blanks: from each blank on, it would take quadratic time.
    .replace(/(^|[^ \t])[ \t]+(?=\r?\n)/g, '$1')
    .replace(/=\r?\n/g, '')
    .replace(/=([0-9A-Fa-f]{2})/g, (_, digits: string) =>
      String.fromCharCode(Number.parseInt(digits, 16)),
    );
  return Buffer.from(text, 'latin1');
};

/** Undoes a transfer encoding piece by piece; null is the end. */
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

/** Returns the length of what can be decoded without what follows. */
const unitsIn = (text: string, encoding: string): number => {
  if (encoding === 'base64') return text.length - (text.length % 4);
  const from = Math.max(0, text.length - MAX_OPEN);
  return from + text.slice(from).search(OPEN_END);
};

/** The end of quoted-printable text that may go on: an escape, or blanks that may end a line. */
const OPEN_END = /(?:=[0-9A-Fa-f]?|=?[ \t]+)?\r?$/;
/** Lines have 76 characters at most (RFC 2045, 6.7), so that no more blanks end one. */
const MAX_OPEN = 1000;

const decoderOf = (charset: string): InstanceType<typeof TextDecoder> => {
  try {
    return new TextDecoder(charset);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return new TextDecoder('windows-1252');
  }
};
