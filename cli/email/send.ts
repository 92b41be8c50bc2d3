import { contracts, type SentMailDetail } from '../../src/client/index.js';
import { type Context, command, switchFlag, textFlag } from '../command.js';
import { Exit, usageFault } from '../exit.js';
import { requestFields, requestFrom } from '../fields.js';
import { readPipedText, readText } from '../input.js';
import { oneLine } from '../text.js';
import { mailAccountCrud } from './accounts.js';
import { attachFlags, uploadAttachments } from './attach.js';
import { mailCrud } from './messages.js';
import { sentColumns } from './sentmail.js';

const endpoints = await contracts.sentmail();

const POLL_MS = 300;
/** Maximum time that the command waits for the server. */
const PATIENCE_MS = 30_000;

/** Flags besides the fields of the request. */
export const mailPartFlags = {
  account: textFlag(
    '<account>',
    'Mail account to send from, by address or id. Defaults to the account of the original message, or to your only account',
  ),
  textFile: textFlag('<file|->', 'File with the text, or - for stdin'),
  ...attachFlags,
};
type MailPartFlags = { [Name in keyof typeof mailPartFlags]?: string | undefined };

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
    noWait: switchFlag('Return as soon as the e-mail is queued'),
  },
  notes: [
    'Waits up to 30 seconds for the reply of the server.',
    'Exit code 1: a recipient was refused, or the outcome is unknown. It is then not ' +
      'resent automatically.',
  ],
  seeAlso: 'adjutant email reply, to reply to an e-mail',
  run: async (context, { fields, flags }) => {
    const more = await mailParts(context, fields, flags);
    const body = await requestFrom(endpoints.send.body, { fields, more }, context.at);
    const client = await context.client();
    const { id } = await client.sentmail.send({ body });
    await reportDelivery(context, id, flags.noWait === true);
  },
});

export const mailParts = async (
  context: Context,
  { inReplyTo }: Record<string, unknown>,
  flags: MailPartFlags,
): Promise<Record<string, unknown>> => {
  const { account, textFile } = flags;
  const text = await mailText(context, { textFile });
  const attachments = await uploadAttachments(context, flags);
  return {
    ...(typeof inReplyTo === 'string' && {
      inReplyTo: (await mailCrud.find(context, inReplyTo)).id,
    }),
    ...(account && { accountId: (await mailAccountCrud.find(context, account)).id }),
    ...(text !== undefined && { text }),
    ...(attachments.length > 0 && { attachments }),
  };
};

export const mailText = async (
  context: Context,
  { text, textFile }: { text?: string | undefined; textFile?: string | undefined },
): Promise<string | undefined> => {
  if (textFile === undefined) return text;
  if (textFile === '-') return readPipedText(context);
  const read = await readText(context, textFile);
  if (read === null)
    throw usageFault(`${oneLine(textFile)} is not a text file. Choose another file.`);
  return read;
};

export const reportDelivery = async (
  context: Context,
  id: string,
  isImpatient: boolean,
): Promise<void> => {
  const client = await context.client();
  const until = context.clock.now() + (isImpatient ? 0 : PATIENCE_MS);
  for (;;) {
    const mail = await client.sentmail.get({ id });
    if (isDecided(mail) || context.clock.now() > until) return tell(context, mail);
    await context.clock.wait(POLL_MS);
  }
};

/** Whether the status will not change within the waiting time. */
const isDecided = ({ status, attempts }: SentMailDetail): boolean =>
  status === 'queued' ? attempts > 0 : status !== 'sending';

const tell = (context: Context, mail: SentMailDetail): void => {
  const { status, error, recipients } = mail;
  const isRefused = recipients.some((one) => ['refused', 'unknown'].includes(one.status));
  if (isRefused) context.exitCode = Exit.failed;
  const sentence = {
    queued: error === null ? 'It is queued for sending.' : `It will be retried: ${error}`,
    sending: 'It is being sent.',
    sent: isRefused ? `Some recipients were refused: ${error ?? ''}` : 'Sent.',
    failed: `Not sent: ${error ?? ''}`,
    cancelled: 'It was cancelled.',
    unknown: `Outcome unknown, so it is not resent automatically: ${error ?? ''}`,
  }[status];
  context.out.done(oneLine(sentence), mail, sentColumns);
};
