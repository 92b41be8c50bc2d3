import PostalMime, { type Address, type Attachment, type Email } from 'postal-mime';
import { fullerText } from '../../providers/mail/fullertext.js';
import type { Extraction } from './job.js';
import { kindOf, MEDIA_TYPES } from './kinds.js';
import { textOfMarkup } from './markup.js';

/** Ours: the most files of one message that are read. */
const MAX_FILES = 50;

/** Extracts the text of one file of a message. */
export type ExtractNested = (
  bytes: Buffer,
  mediaType: string,
  extraction: Extraction,
) => Promise<void>;

/** Returns the extractor of a message (RFC 5322): its first page is the text, the next its files. */
export const mailExtractor =
  (extractNested: ExtractNested) =>
  async (bytes: Buffer, extraction: Extraction): Promise<void> => {
    const mail = await PostalMime.parse(bytes);
    if (!extraction.skip() && !extraction.add(textOf(mail))) return;
    const files = mail.attachments.filter((file) => !isShown(file, mail));
    if (files.length > MAX_FILES)
      extraction.note(`Only the first ${MAX_FILES} attachments were read.`);
    for (const file of files.slice(0, MAX_FILES)) await addFile(file, extraction, extractNested);
  };

/** True for a picture that the HTML of the message shows (RFC 2392), such as that of a signature. */
const isShown = ({ contentId, mimeType }: Attachment, { html = '' }: Email): boolean => {
  const id = contentId?.replace(/^<|>$/g, '') ?? '';
  if (id === '' || !mimeType.startsWith('image/')) return false;
  return [id, encodeURIComponent(id)].some((each) => html.includes(`cid:${each}`));
};

/** Returns the name of an attached file; one without a name has the ending of its kind. */
const nameOf = ({ filename, mimeType }: Attachment): string =>
  (filename ?? `without a name${MEDIA_TYPES[mimeType]?.endings[0] ?? ''}`).slice(0, 100);

const addFile = async (
  file: Attachment,
  extraction: Extraction,
  extractNested: ExtractNested,
): Promise<void> => {
  const { content } = file;
  const name = nameOf(file);
  const bytes =
    typeof content === 'string' ? Buffer.from(content) : Buffer.from(new Uint8Array(content));
  const kind = await kindOf(bytes, name);
  if (kind === null) return extraction.note(`The attachment ${name} has an unsupported file type.`);
  try {
    await extractNested(bytes, kind, extraction);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    extraction.note(`The attachment ${name} could not be read: ${reason.slice(0, 200)}`);
  }
};

const textOf = (mail: Email): string => {
  const { subject, from, to, cc, date, attachments } = mail;
  const heads = [
    subject && `# ${subject}`,
    from && `From: ${sayAddress(from)}`,
    to && `To: ${to.map(sayAddress).join(', ')}`,
    cc && `Cc: ${cc.map(sayAddress).join(', ')}`,
    date && `Date: ${date}`,
    attachments.length > 0 && `Files: ${attachments.map(nameOf).join(', ')}`,
  ];
  return `${heads.filter(Boolean).join('\n')}\n\n${bodyOf(mail)}`;
};

const bodyOf = ({ text = '', html = '' }: Email): string =>
  html === '' ? text : fullerText(text, textOfMarkup(html));

const sayAddress = ({ name, address }: Address): string =>
  name && address ? `${name} <${address}>` : (address ?? name);
