import { badRequest } from '../../kernel/route.js';
import type { MailAddress, MailMessageRow, SentMailRow } from '../../store/tables/mail.js';
import type { MailMessagesStore } from '../messages/queries.js';

/** The longest subject of an e-mail, in characters (RFC 5322, 2.1.1). */
const MAX_SUBJECT_LENGTH = 998;

/**
 * An address that may be written to. Servers say MISSING_DOMAIN and the like for one that they could
 * not read.
 */
const ADDRESS = /^[^\s@]{1,64}@[^\s@_]{1,255}$/;

/** Finds the message that is answered. Replies with 400 if the user has no such message. */
export const findAnswered = async (
  messages: Pick<MailMessagesStore, 'get'>,
  userId: string,
  id: string | null | undefined,
): Promise<MailMessageRow | null> => {
  if (id === undefined || id === null) return null;
  const found = await messages.get(userId, id);
  if (found) return found;
  throw badRequest([{ path: 'inReplyTo', message: 'does not match any of your e-mails' }]);
};

/** Returns the subject of an answer: that of the message after `Re:`, in one line (RFC 5322, 3.6.5). */
export const answerSubject = ({ subject }: Pick<MailMessageRow, 'subject'>): string => {
  const line = subject.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  return (/^re:/i.test(line) ? line : `Re: ${line}`).slice(0, MAX_SUBJECT_LENGTH);
};

/** Ours: the most addresses that a sender may have answers sent to. */
const MAX_WANTED = 10;

/**
 * Returns the addresses that an answer goes to, each once: those that the author wants answers at, or
 * else the author's own. What is no address is left out, and so is a list of more than ten.
 */
export const answerAddresses = ({
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
  const asked = usable(wanted);
  return asked.length > 0 && asked.length <= MAX_WANTED ? asked : usable(authors);
};

/** Ours: the most ids of a thread beside its first, of at most 250 characters each. */
const MAX_REFERENCES = 20;
const MESSAGE_ID = /^<[!-;=?-~]{1,248}>$/;

/**
 * Returns the headers of a thread: the ids of the messages before this one (RFC 5322, 3.6.4). Of a
 * long thread the first and the last, because servers refuse a header that is too long.
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
