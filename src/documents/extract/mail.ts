import PostalMime, { type Address, type Attachment, type Email } from 'postal-mime';
import { errorReason } from '../../kernel/failure.js';
import { combineTexts } from '../../providers/mail/combinetexts.js';
import { decodedBytes, decodeMailText, parseMailTextType } from '../../providers/mail/structure.js';
import type { Extraction } from './job.js';
import { detectMediaType, MEDIA_TYPES, unsupportedReason } from './kinds.js';
import { textOfMarkup } from './markup.js';
import { decodeWide } from './unicode.js';

const MAX_FILES = 50;

export type ExtractNested = (
  bytes: Buffer,
  mediaType: string,
  extraction: Extraction,
) => Promise<void>;

/** RFC 5322. The first page is the message, followed by its attachments. */
export const mailExtractor =
  (extractNested: ExtractNested) =>
  async (bytes: Buffer, extraction: Extraction): Promise<void> => {
    const mail = await parseMail(bytes);
    const text = formatMailText(mail).replace(UUENCODED, (_, name: string) => {
      extraction.note(unsupportedEncoding(name));
      return `[${name}]`;
    });
    if (!extraction.skip() && !extraction.add(text)) return;
    const files = mail.attachments.filter((file) => !isShown(file, mail));
    if (files.length > MAX_FILES)
      extraction.note(`Only the first ${MAX_FILES} attachments were read.`);
    for (const file of files.slice(0, MAX_FILES)) await addFile(file, extraction, extractNested);
  };

/** A file of uuencode (POSIX), whose lines have at most 61 characters. */
const UUENCODED = /^begin [0-7]{3,4} (\S.{0,99})\n(?:[ -`]{1,61}\n)+end$/gm;

const unsupportedEncoding = (name: string): string =>
  `The file ${name} was not read, because it is encoded with uuencode. Attach it in MIME format.`;

interface MimeNode {
  content: ArrayBuffer | null;
  contentType: { parsed: { params: Partial<Record<string, string>> } };
  getTextContent(): string;
}

/** The parser trusts charset labels, and joins quoted lines with their quote marks. */
class MailParser extends PostalMime {
  declare readonly root: MimeNode;

  constructor() {
    super();
    // Nested messages have nodes of the same class.
    const nodes: MimeNode = Object.getPrototypeOf(this.root);
    nodes.getTextContent = function (this: MimeNode) {
      const bytes = new Uint8Array(this.content ?? []);
      return decodeMailText(bytes, parseMailTextType(this.contentType.parsed.params));
    };
  }
}

/** A message that was saved by a text editor may be UTF-16. */
const parseMail = (bytes: Buffer): Promise<Email> =>
  new MailParser().parse(withReadableHeader(Buffer.from(decodeWide(bytes) ?? bytes)));

/** Header fields may contain bytes of any charset, although RFC 5322 allows only ASCII. */
const withReadableHeader = (bytes: Buffer): Buffer => {
  const ends = ['\r\n\r\n', '\n\n'].map((mark) => bytes.indexOf(mark)).filter((at) => at >= 0);
  const end = ends.length > 0 ? Math.min(...ends) : bytes.length;
  const header = decodeMailText(bytes.subarray(0, end), { charset: 'utf-8' });
  const readable = header.replace(ENCODED_WORDS, joinEncodedWords);
  return Buffer.concat([Buffer.from(readable), bytes.subarray(end)]);
};

const ENCODED_WORD = /=\?([^?\s]{1,60})\?([bq])\?([^?]*)\?=/gi;
const ENCODED_WORDS = new RegExp(`${ENCODED_WORD.source}(?:\\s+${ENCODED_WORD.source})*`, 'gi');

/** Senders split characters between encoded words (RFC 2047, 5), and mislabel their charset. */
const joinEncodedWords = (words: string): string => {
  const joined: { charset: string; bytes: Buffer[] }[] = [];
  for (const [, label = '', encoding = '', text = ''] of words.matchAll(ENCODED_WORD)) {
    const charset = label.replace(/\*.*$/, '').toLowerCase();
    if (joined.at(-1)?.charset !== charset) joined.push({ charset, bytes: [] });
    const isBase64 = encoding.toLowerCase() === 'b';
    const source = Buffer.from(isBase64 ? text : text.replaceAll('_', '=20'), 'latin1');
    joined.at(-1)?.bytes.push(decodedBytes(source, isBase64 ? 'base64' : 'quoted-printable'));
  }
  const text = joined.map(({ charset, bytes }) =>
    decodeMailText(Buffer.concat(bytes), { charset }),
  );
  return `=?utf-8?B?${Buffer.from(text.join('')).toString('base64')}?=`;
};

/** Images that the HTML body shows (RFC 2392), such as in signatures. */
const isShown = ({ contentId, mimeType }: Attachment, { html = '' }: Email): boolean => {
  const id = contentId?.replace(/^<|>$/g, '') ?? '';
  if (id === '' || !mimeType.startsWith('image/')) return false;
  return [id, encodeURIComponent(id)].some((each) => html.includes(`cid:${each}`));
};

const getAttachmentName = ({ filename, mimeType }: Attachment): string =>
  (filename ?? `without a name${MEDIA_TYPES[mimeType]?.endings[0] ?? ''}`).slice(0, 100);

const addFile = async (
  file: Attachment,
  extraction: Extraction,
  extractNested: ExtractNested,
): Promise<void> => {
  const { content } = file;
  const name = getAttachmentName(file);
  const bytes =
    typeof content === 'string' ? Buffer.from(content) : Buffer.from(new Uint8Array(content));
  if (/^begin [0-7]{3,4} \S/.test(bytes.toString('latin1', 0, 20)))
    return extraction.note(unsupportedEncoding(name));
  const isText = file.mimeType.startsWith('text/');
  // Such as an invitation or a contact.
  const kind =
    (await detectMediaType(bytes, name)) ?? (isText ? await detectMediaType(bytes, 'a.txt') : null);
  if (kind === null) {
    const reason = unsupportedReason(bytes, name) ?? 'has an unsupported file type';
    return extraction.note(`The attachment ${name} ${reason}.`);
  }
  try {
    await extractNested(bytes, kind, extraction);
  } catch (error) {
    const reason = errorReason(error).slice(0, 200);
    extraction.note(`The attachment ${name} could not be read: ${reason}.`);
  }
};

const formatMailText = (mail: Email): string => {
  const { subject, from, to, cc, date, attachments } = mail;
  const heads = [
    subject && `# ${subject}`,
    from && `From: ${sayAddress(from)}`,
    to && `To: ${to.map(sayAddress).join(', ')}`,
    cc && `Cc: ${cc.map(sayAddress).join(', ')}`,
    date && `Date: ${date}`,
    attachments.length > 0 && `Files: ${attachments.map(getAttachmentName).join(', ')}`,
  ];
  return `${heads.filter(Boolean).join('\n')}\n\n${getMailBody(mail)}`;
};

const getMailBody = ({ text = '', html = '' }: Email): string =>
  html === '' ? text : combineTexts(text, textOfMarkup(html));

const sayAddress = ({ name, address }: Address): string =>
  name && address ? `${name} <${address}>` : (address ?? name);
