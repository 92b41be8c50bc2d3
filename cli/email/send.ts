import { setTimeout as pause } from 'node:timers/promises';
import { contracts, type SentMailDetail } from '../../src/client/index.js';
import { type Context, command, on, textFlag } from '../command.js';
import { Exit, usageFault } from '../exit.js';
import { requestFields, requestFrom } from '../fields.js';
import { readText } from '../input.js';
import { oneLine } from '../text.js';
import { mailAccountCrud } from './accounts.js';
import { attachedIds, attachFlags } from './attach.js';
import { mailCrud } from './messages.js';
import { sentColumns } from './sentmail.js';

const endpoints = await contracts.sentmail();

const LOOK_MS = 300;
/** Ours: the longest time that the command waits for the server. */
const PATIENCE_MS = 30_000;

/** The flags of a command that writes an e-mail, beside the fields of its request. */
export const mailPartFlags = {
  account: textFlag('<account>', 'A mail account, by its address or id'),
  textFile: textFlag('<file|->', 'The text, from a file or stdin'),
  ...attachFlags,
};
type MailPartFlags = { [Name in keyof typeof mailPartFlags]?: string | undefined };

/** `email send`: stores an e-mail, and says what the server answered. */
export const sendMail = command({
  name: 'send',
  calls: [endpoints.send],
  examples: [
    "--to bob@example.org --subject 'The report' --text 'It is done.'",
    '--to bob@example.org,eve@example.org --subject Minutes --text-file minutes.txt',
    '--to bob@example.org --subject Figures --text Attached. --attach figures.pdf',
    '--to bob@example.org --in-reply-to 4ew6rt --text-file -',
  ],
  fields: () => requestFields(endpoints.send.body, ['accountId', 'attachments']),
  flags: {
    ...mailPartFlags,
    noWait: on('Return once it is stored; it is sent all the same'),
  },
  notes: [
    'It waits for the answer of the server, up to 30 seconds.',
    'Exit code 1: a recipient was refused, or the answer was lost. It is then not sent again by itself.',
  ],
  seeAlso: 'adjutant email reply, to answer one',
  run: async (context, { fields, flags }) => {
    const more = await mailParts(context, fields, flags);
    const body = await requestFrom(endpoints.send.body, { fields, more }, context.at);
    const client = await context.client();
    const { id } = await client.sentmail.send({ body });
    await tellOutcome(context, id, flags.noWait === true);
  },
});

/** Returns the fields of an e-mail that name things of the user, or whose text is in a file. */
export const mailParts = async (
  context: Context,
  { inReplyTo }: Record<string, unknown>,
  flags: MailPartFlags,
): Promise<Record<string, unknown>> => {
  const { account, textFile } = flags;
  const text = await mailText(context, { textFile });
  const attachments = await attachedIds(context, flags);
  return {
    ...(typeof inReplyTo === 'string' && {
      inReplyTo: (await mailCrud.find(context, inReplyTo)).id,
    }),
    ...(account && { accountId: (await mailAccountCrud.find(context, account)).id }),
    ...(text !== undefined && { text }),
    ...(attachments.length > 0 && { attachments }),
  };
};

/** Returns the text that is given, or that of the file; undefined: neither is given. */
export const mailText = async (
  context: Context,
  { text, textFile }: { text?: string | undefined; textFile?: string | undefined },
): Promise<string | undefined> => {
  if (textFile === undefined) return text;
  const read = await readText(context, textFile);
  if (read === null) throw usageFault(`${oneLine(textFile)} is no text.`);
  return read;
};

/** Waits for the answer of the server, and says it. */
export const tellOutcome = async (
  context: Context,
  id: string,
  isImpatient: boolean,
): Promise<void> => {
  const client = await context.client();
  const until = performance.now() + (isImpatient ? 0 : PATIENCE_MS);
  for (;;) {
    const mail = await client.sentmail.get({ id });
    if (isDecided(mail) || performance.now() > until) return tell(context, mail);
    await pause(LOOK_MS);
  }
};

/** True if nothing changes within the patience of a person. */
const isDecided = ({ status, attempts }: SentMailDetail): boolean =>
  status === 'queued' ? attempts > 0 : status !== 'sending';

const tell = (context: Context, mail: SentMailDetail): void => {
  const { status, error, recipients } = mail;
  const isRefused = recipients.some((one) => ['refused', 'unknown'].includes(one.status));
  if (isRefused) context.exitCode = Exit.failed;
  const sentence = {
    queued: error === null ? 'It is stored and will be sent.' : `It is tried again: ${error}`,
    sending: 'It is on its way.',
    sent: isRefused ? `Some recipients were refused: ${error ?? ''}` : 'Sent.',
    failed: `Not sent: ${error ?? ''}`,
    cancelled: 'It was cancelled.',
    unknown: `The answer was lost, so it is not sent again by itself: ${error ?? ''}`,
  }[status];
  context.out.done(oneLine(sentence), mail, sentColumns);
};
