import { contracts, type MailMessageDetail } from '../../src/client/index.js';
import { type Context, command, switchFlag, textFlag } from '../command.js';
import { usageFault } from '../exit.js';
import { attachFlags, uploadAttachments } from './attach.js';
import { mailCrud } from './messages.js';
import { mailText, reportDelivery } from './send.js';

const { get } = await contracts.mail();
const { send } = await contracts.sentmail();
const { create } = await contracts.maildrafts();

export const replyToMail = command({
  name: 'reply',
  args: '<message>',
  summary: 'Reply to an e-mail',
  calls: [get, send, create],
  examples: [
    "4ew6rt --text 'Thank you.'",
    '4ew6rt --all --text-file answer.txt --attach figures.pdf',
    "'Your invoice' --draft --text 'It is paid.'",
  ],
  flags: {
    text: textFlag('<text>', 'Text of the reply. Required without --text-file'),
    textFile: textFlag('<file|->', 'File with the text, or - for stdin'),
    all: switchFlag('Reply to all recipients'),
    ...attachFlags,
    draft: switchFlag('Save a draft instead of sending'),
    noWait: switchFlag('Return as soon as the e-mail is queued'),
  },
  notes: [
    'The reply goes to the Reply-To address, or else to the sender.',
    'Exit code 1: a recipient was refused, or the outcome is unknown. It is then not ' +
      'resent automatically.',
  ],
  seeAlso: 'adjutant email drafts send',
  run: async (context, { args, flags }) => {
    const { client, id } = await mailCrud.find(context, args.message);
    const text = await mailText(context, flags);
    if (text === undefined) throw usageFault('The text is missing. Add --text or --text-file.');
    const mail = await client.mail.get({ id });
    const { accounts } = await client.mailaccounts.list();
    const own = accounts.find((account) => account.id === mail.accountId)?.address ?? '';
    const attachments = await uploadAttachments(context, flags);
    const body = {
      ...buildReplyRecipients(mail, own, flags.all === true),
      text,
      inReplyTo: id,
      accountId: mail.accountId,
      ...(attachments.length > 0 && { attachments }),
    };
    if (flags.draft) return keepDraft(context, body);
    const sent = await client.sentmail.send({ body });
    await reportDelivery(context, sent.id, flags.noWait === true);
  },
});

/** Maximum number of reply addresses that a sender may set. */
const MAX_AUTHORS = 10;

type ReplyBody = ReturnType<typeof buildReplyRecipients> & { text: string; inReplyTo: string };

const keepDraft = async (context: Context, body: ReplyBody): Promise<void> => {
  const client = await context.client();
  const draft = await client.maildrafts.create({ body });
  context.out.done(`Saved as a draft: adjutant email drafts send ${draft.id.slice(-6)}`, draft, [
    { name: 'id', value: ({ id }) => id },
  ]);
};

/** Excludes addresses that a server could not read and marked. */
const ADDRESS = /^[^\s@]{1,64}@[^\s@_]{1,255}$/;
const isAddress = ({ address }: { address: string }): boolean => ADDRESS.test(address);

/** Returns the recipients of the reply, each once, without the author. */
const buildReplyRecipients = (
  { from, replyTo, to, cc }: MailMessageDetail,
  own: string,
  isToAll: boolean,
): { to: string[]; cc?: string[] } => {
  const replyAddresses = replyTo.filter(isAddress);
  const authors =
    replyAddresses.length > 0
      ? replyAddresses
      : [from].flatMap((one) => one ?? []).filter(isAddress);
  if (authors.length > MAX_AUTHORS) {
    throw usageFault(
      `The e-mail asks for replies to ${authors.length} addresses or more. Choose the ` +
        'recipients: adjutant email send --in-reply-to',
    );
  }
  if (authors.length === 0)
    throw usageFault(
      'The e-mail has no address to reply to. Send a new e-mail with: adjutant email send',
    );
  const seen = new Set([own.toLowerCase()]);
  const unseen = (all: { address: string }[]): string[] =>
    all.flatMap(({ address }) => {
      const key = address.toLowerCase();
      if (seen.has(key)) return [];
      seen.add(key);
      return [address];
    });
  // A reply to a message of your own goes to yourself.
  const first = unseen(authors);
  const others = isToAll ? unseen([...to, ...cc].filter(isAddress)) : [];
  return {
    to: first.length > 0 ? first : authors.map(({ address }) => address),
    ...(others.length > 0 && { cc: others }),
  };
};
