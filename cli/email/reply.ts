import { contracts, type MailMessageDetail } from '../../src/client/index.js';
import { type Context, command, on, textFlag } from '../command.js';
import { usageFault } from '../exit.js';
import { attachedIds, attachFlags } from './attach.js';
import { mailCrud } from './messages.js';
import { mailText, tellOutcome } from './send.js';

const { get } = await contracts.mail();
const { send } = await contracts.sentmail();
const { create } = await contracts.maildrafts();

/** `email reply`: answers an e-mail, in its thread. */
export const replyToMail = command({
  name: 'reply',
  args: '<message>',
  summary: 'Answer an e-mail, in its thread and from its account',
  calls: [get, send, create],
  examples: [
    "4ew6rt --text 'Thank you.'",
    '4ew6rt --all --text-file answer.txt --attach figures.pdf',
    "'Your invoice' --draft --text 'It is paid.'",
  ],
  flags: {
    text: textFlag('<text>', 'The text; needed, unless --text-file is'),
    textFile: textFlag('<file|->', 'The text, from a file or stdin'),
    all: on('To all who got it, too'),
    ...attachFlags,
    draft: on('Keep it as a draft; nothing is sent'),
    noWait: on('Return once it is stored; it is sent all the same'),
  },
  notes: [
    'It goes to the address that the sender wants answers at (Reply-To), or to the sender.',
    'Exit code 1: a recipient was refused, or the answer was lost. It is then not sent again by itself.',
  ],
  seeAlso: 'adjutant email drafts send',
  run: async (context, { args, flags }) => {
    const { client, id } = await mailCrud.find(context, args.message);
    const text = await mailText(context, flags);
    if (text === undefined) throw usageFault('--text or --text-file is needed.');
    const mail = await client.mail.get({ id });
    const { accounts } = await client.mailaccounts.list();
    const own = accounts.find((account) => account.id === mail.accountId)?.address ?? '';
    const attachments = await attachedIds(context, flags);
    const body = {
      ...recipientsOf(mail, own, flags.all === true),
      text,
      inReplyTo: id,
      accountId: mail.accountId,
      ...(attachments.length > 0 && { attachments }),
    };
    if (flags.draft) return keepDraft(context, body);
    const sent = await client.sentmail.send({ body });
    await tellOutcome(context, sent.id, flags.noWait === true);
  },
});

/** Ours: the most addresses that a sender may have answers sent to. */
const MAX_AUTHORS = 10;

type ReplyBody = ReturnType<typeof recipientsOf> & { text: string; inReplyTo: string };

const keepDraft = async (context: Context, body: ReplyBody): Promise<void> => {
  const client = await context.client();
  const draft = await client.maildrafts.create({ body });
  context.out.done(`Kept: adjutant email drafts send ${draft.id.slice(-6)}`, draft, [
    { name: 'id', value: ({ id }) => id },
  ]);
};

/** An address that may be written to. A server names some that it could not read. */
const ADDRESS = /^[^\s@]{1,64}@[^\s@_]{1,255}$/;
const isAddress = ({ address }: { address: string }): boolean => ADDRESS.test(address);

/** Returns who gets the answer: each once, and not the one who writes it. */
const recipientsOf = (
  { from, replyTo, to, cc }: MailMessageDetail,
  own: string,
  isToAll: boolean,
): { to: string[]; cc?: string[] } => {
  const asked = replyTo.filter(isAddress);
  const authors = asked.length > 0 ? asked : [from].flatMap((one) => one ?? []).filter(isAddress);
  if (authors.length > MAX_AUTHORS) {
    throw usageFault(
      `The e-mail asks for answers to ${authors.length} addresses or more. Name who gets yours: adjutant email send --in-reply-to`,
    );
  }
  if (authors.length === 0) throw usageFault('The e-mail names no address to answer.');
  const seen = new Set([own.toLowerCase()]);
  const unseen = (all: { address: string }[]): string[] =>
    all.flatMap(({ address }) => {
      const key = address.toLowerCase();
      if (seen.has(key)) return [];
      seen.add(key);
      return [address];
    });
  // One who answers a message of their own writes to themselves.
  const first = unseen(authors);
  const others = isToAll ? unseen([...to, ...cc].filter(isAddress)) : [];
  return {
    to: first.length > 0 ? first : authors.map(({ address }) => address),
    ...(others.length > 0 && { cc: others }),
  };
};
