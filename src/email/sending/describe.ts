import { type CallDetail, MAX_DETAIL_LENGTH } from '../../kernel/contract/approval.js';
import { sizeText } from '../../kernel/sizetext.js';
import type { MailAddress, MailMessageRow } from '../../store/tables/mail.js';
import type { NewMail } from './contract.js';
import { findOriginal } from './reply.js';
import { accountFor, findAttachments, type SendingDeps } from './service.js';

/**
 * What a person must know to decide on a message, besides its own fields. Throws as `sendMail` does
 * for a message whose account, original or attachments do not exist.
 */
export const describeMail = async (
  deps: SendingDeps,
  userId: string,
  { accountId, inReplyTo, attachments = [] }: NewMail,
): Promise<CallDetail[]> => {
  const original = await findOriginal(deps.mailbox.messages, userId, inReplyTo);
  const account = await accountFor(deps, userId, accountId ?? original?.account_id);
  const files = await findAttachments(deps, userId, attachments);
  return [
    { name: 'From', value: formatAddress(account) },
    ...describeOriginal(original),
    ...files.map(({ name, mediaType, bytes }) => ({
      name: 'Attachment',
      value: `${name} (${mediaType}, ${sizeText(bytes)})`,
    })),
  ].map(({ name, value }) => ({ name, value: inOneLine(value).slice(0, MAX_DETAIL_LENGTH) }));
};

/** External text must not look like another detail. */
const inOneLine = (text: string): string => text.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' ');

const describeOriginal = (original: MailMessageRow | null): CallDetail[] => {
  if (!original) return [{ name: 'Reply', value: 'no, a new message' }];
  const sender: MailAddress | null = original.sender === null ? null : JSON.parse(original.sender);
  return [
    { name: 'Reply', value: 'yes, to the original message' },
    { name: 'Original from', value: sender ? formatAddress(sender) : 'unknown' },
    { name: 'Original subject', value: original.subject || '(no subject)' },
    { name: 'Original date', value: original.date },
  ];
};

/** The address, after the name if there is another one. */
const formatAddress = ({ name, address }: MailAddress): string =>
  name === '' || name === address ? address : `${name} <${address}>`;
