import { Readable } from 'node:stream';
import Boom from '@hapi/boom';
import { FileReply } from '../../kernel/contract/endpoint.js';
import { combineTexts } from '../../providers/mail/combinetexts.js';
import { type ImapSession, readMailPart } from '../../providers/mail/imap.js';
import { MAX_HTML_LENGTH, safeMailHtml, textOfHtml } from '../../providers/mail/safehtml.js';
import { decodeMailText } from '../../providers/mail/structure.js';
import type { MailFile, MailMessageRow, MailTextPart } from '../../store/tables/mail.js';
import { atMessage, findMail, type MailMessagesDeps } from './service.js';

export interface MailBody {
  text: string;
  html: string | null;
  isCut: boolean;
  problem: string | null;
}

const MAX_TEXT_LENGTH = 512 * 1024;
const MAX_FILE = 64 * 1024 * 1024;

/** Sets no flag on the server. */
export const readMailBody = async (
  deps: MailMessagesDeps,
  found: Awaited<ReturnType<typeof findMail>>,
  signal: AbortSignal,
): Promise<MailBody> => {
  const { row } = found;
  const parts: { text: MailTextPart | null; html: MailTextPart | null } = JSON.parse(row.parts);
  const read = await atMessage(deps, found, signal, async (session) => {
    const text = await textIn(session, row, parts.text, MAX_TEXT_LENGTH);
    const html = await textIn(session, row, parts.html, MAX_HTML_LENGTH);
    return text === 'gone' || html === 'gone' ? null : { text, html };
  });
  if ('problem' in read)
    return { text: row.snippet, html: null, isCut: true, problem: read.problem };
  const { text, html } = read.value;
  const safe = html ? await safeMailHtml(html.text) : null;
  return {
    text: html ? combineTexts(text?.text ?? '', textOfHtml(html.text)) : (text?.text ?? ''),
    html: safe,
    isCut: text?.isCut === true || html?.isCut === true || (html !== null && safe === null),
    problem: null,
  };
};

const textIn = async (
  session: ImapSession,
  { uid }: MailMessageRow,
  part: MailTextPart | null,
  maxBytes: number,
): Promise<{ text: string; isCut: boolean } | 'gone' | null> => {
  if (!part) return null;
  const content = await readMailPart(session, uid, part, maxBytes);
  if (!content) return 'gone';
  const text = decodeMailText(content, part);
  return { text: text.slice(0, maxBytes), isCut: part.bytes > maxBytes };
};

interface AttachmentOf {
  id: string;
  number: string;
}

interface MailReader {
  userId: string;
  signal: AbortSignal;
}

export const readAttachment = async (
  deps: MailMessagesDeps,
  by: MailReader,
  of: AttachmentOf,
): Promise<FileReply> => {
  const { name, content } = await fetchAttachment(deps, by, of);
  return new FileReply(Readable.from([content], { objectMode: false }), {
    'content-type': 'application/octet-stream',
    'content-length': String(content.length),
    'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name.replace(/\p{Cs}/gu, '_'))}`,
    'content-security-policy': 'sandbox',
    'x-content-type-options': 'nosniff',
    'cache-control': 'private, no-store',
  });
};

export const fetchAttachment = async (
  deps: MailMessagesDeps,
  { userId, signal }: MailReader,
  { id, number }: AttachmentOf,
): Promise<{ name: string; content: Buffer }> => {
  const found = await findMail(deps, userId, id);
  const files: MailFile[] = JSON.parse(found.row.attachments);
  const file = /^\d{1,4}$/.test(number) ? files[Number(number)] : undefined;
  if (!file) throw Boom.notFound('The e-mail has no attachment with that number');
  if (file.bytes > MAX_FILE) {
    throw Boom.entityTooLarge('The attachment is larger than 64 MiB. Open it in a mail program', {
      code: 'file_too_large',
    });
  }
  const read = await atMessage(deps, found, signal, (session) =>
    readMailPart(session, found.row.uid, file, MAX_FILE),
  );
  if ('problem' in read) throw Boom.badGateway(read.problem, { code: 'mail_unreachable' });
  return { name: file.name, content: read.value };
};
