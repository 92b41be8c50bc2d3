import { badRequest } from '../../kernel/route.js';
import type { MailAddress, MailMessageRow, SentMailRow } from '../../store/tables/mail.js';
import type { MailMessagesStore } from '../messages/queries.js';

/** RFC 5322, 2.1.1. */
const MAX_SUBJECT_LENGTH = 998;

/** Servers use MISSING_DOMAIN and the like for unreadable addresses. */
const ADDRESS = /^[^\s@]{1,64}@[^\s@_]{1,255}$/;

/** Throws 400 if not found. */
export const findOriginal = async (
  messages: Pick<MailMessagesStore, 'get'>,
  userId: string,
  id: string | null | undefined,
): Promise<MailMessageRow | null> => {
  if (id === undefined || id === null) return null;
  const found = await messages.get(userId, id);
  if (found) return found;
  throw badRequest([{ path: 'inReplyTo', message: 'does not match any of your e-mails' }]);
};

/** `Re:` and the subject in one line (RFC 5322, 3.6.5). */
export const replySubject = ({ subject }: Pick<MailMessageRow, 'subject'>): string => {
  const line = subject.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  return (/^re:/i.test(line) ? line : `Re: ${line}`).slice(0, MAX_SUBJECT_LENGTH);
};

/** Reply addresses per message. */
const MAX_WANTED = 10;

/** `Reply-To`, else the author. Invalid addresses and longer lists are dropped. */
export const replyAddresses = ({
  reply_to,
  sender,
}: Pick<MailMessageRow, 'reply_to' | 'sender'>): string[] => {
  const wanted: MailAddress[] = JSON.parse(reply_to);
  const authors: MailAddress[] = sender === null ? [] : [JSON.parse(sender)];
  const usable = (all: MailAddress[]): string[] => [
    ...new Map(
      all
        .filter(({ address }) => ADDRESS.test(address))
        .map(({ address }) => [address.toLowerCase(), address]),
    ).values(),
  ];
  const requested = usable(wanted);
  return requested.length > 0 && requested.length <= MAX_WANTED ? requested : usable(authors);
};

/** Ids of a thread besides the first, at most 250 characters each. */
const MAX_REFERENCES = 20;
const MESSAGE_ID = /^<[!-;=?-~]{1,248}>$/;

/**
 * RFC 5322, 3.6.4. A long thread keeps the first and the last ids, because servers reject long
 * headers.
 */
export const threadHeaders = (
  answered: Pick<MailMessageRow, 'message_id' | 'refs'> | null,
): Pick<SentMailRow, 'in_reply_to' | 'refs'> => {
  const messageId = answered?.message_id ?? null;
  if (!answered || messageId === null) return { in_reply_to: null, refs: '[]' };
  const before: string[] = JSON.parse(answered.refs);
  const sound = before.filter((id) => id !== messageId && MESSAGE_ID.test(id));
  const refs = [...sound.slice(0, 1), ...sound.slice(1).slice(-MAX_REFERENCES), messageId];
  return { in_reply_to: messageId, refs: JSON.stringify(refs) };
};
