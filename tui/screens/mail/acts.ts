import { oneLine, revealInvisible, wrapped } from '../../../cli/text.js';
import {
  ApiError,
  type MailAccount,
  type MailDraft,
  type MailMessage,
  type MailMessageDetail,
  type Reply,
  type SentMail,
} from '../../../src/client/index.js';
import type { Acts } from '../../page.js';
import type { Act } from '../../state/act.js';
import { actTarget, reportDone } from '../../state/act.js';
import type { State } from '../../state/state.js';
import { possibleActs } from '../list.js';
import { formatMailSubject } from './facts.js';

/** Time after a question has appeared in which keys have no effect, in milliseconds. */
const DEAD_MS = 700;
/** Rows of the terminal that stay free beside the recipients in a question. */
const FREE_ROWS = 12;
/** Maximum characters of a subject in a question. */
const MAX_SUBJECT = 60;
/** Maximum file names in a question. */
const MAX_FILES = 10;

type MailStep = Reply<'mailaccounts', 'test'>['steps'][number];

const STEPS: Record<MailStep['step'], string> = {
  imap_login: 'log in to read',
  imap_folders: 'find the folders',
  imap_idle: 'watch for new mail',
  smtp_login: 'log in to send',
  smtp_send: 'send a message to yourself',
  arrival: 'receive that message',
};

const shortSubject = (of: { subject: string }): string =>
  revealInvisible(oneLine(formatMailSubject(of))).slice(0, MAX_SUBJECT);

const replyActs = (mail: MailMessage | MailMessageDetail): Acts => {
  const wanted = 'replyTo' in mail ? mail.replyTo : [];
  const authors = wanted.length > 0 ? wanted : [mail.from].flatMap((each) => each ?? []);
  const to = authors.map(({ address }) => revealInvisible(address)).join(', ');
  return possibleActs<Act>({
    message: authors.length > 0 && {
      ...actTarget('mails', mail.id, 'drafts'),
      text: `Draft a reply to ${shortSubject(mail)}`,
      line: `adjutant email reply ${mail.id} --draft …`,
      doing: 'saving…',
      ask: {
        lines: [`Your reply to ${to}. It is saved as a draft and not sent.`],
        writes: true,
        enter: 'save as a draft',
      },
      call: async ({ maildrafts }, text) => {
        const { id, accountId } = mail;
        await maildrafts.create({ body: { inReplyTo: id, accountId, text } });
        return 'Saved to the drafts. Send the draft from there';
      },
    },
  });
};

export const messageActs = (mail: MailMessage | MailMessageDetail): Acts => ({
  ...replyActs(mail),
  mark: taskAct(mail),
});

/**
 * The user types the title. The subject is external text, which an agent working on the task would
 * take for an instruction of its owner.
 */
const taskAct = (mail: MailMessage | MailMessageDetail): Act => ({
  ...actTarget('mails', mail.id, 'tasks'),
  text: `Create a task from ${shortSubject(mail)}`,
  line: `adjutant tasks create --title … --notes 'adjutant email get ${mail.id}'`,
  doing: 'creating…',
  ask: {
    lines: [`Title of the task for "${shortSubject(mail)}"`],
    writes: true,
    enter: 'create the task',
  },
  call: async ({ tasks }, typed) => {
    const [first = '', ...more] = typed.trim().split('\n');
    const notes = [...more, `adjutant email get ${mail.id}`].join('\n');
    const { title } = await tasks.create({ body: { title: first, notes } });
    return `Created: ${title}`;
  },
});

export const fileActs = ({ id, attachments, subject }: MailMessageDetail): Acts =>
  possibleActs<Act>({
    add: attachments.length > 0 && {
      ...actTarget('wholeMails', id, 'entries'),
      text: `Keep the files of ${shortSubject({ subject })}`,
      line: `adjutant email keep ${id} 0`,
      doing: 'keeping…',
      ask: {
        lines: [
          `Keep ${attachments.length === 1 ? 'this file as a document' : `these ${attachments.length} files as documents`}?`,
          ...attachments
            .slice(0, MAX_FILES)
            .map(({ name }) => `  ${revealInvisible(oneLine(name))}`),
          ...(attachments.length > MAX_FILES
            ? [`  and ${attachments.length - MAX_FILES} more`]
            : []),
        ],
      },
      call: async ({ mail }) => {
        const count = { kept: 0, known: 0, refused: 0 };
        for (const number of attachments.keys()) {
          try {
            const { duplicate } = await mail.keep({ id, number: String(number) });
            count[duplicate ? 'known' : 'kept']++;
          } catch (error) {
            // One unreadable file must not stop the others.
            if (!(error instanceof ApiError) || error.statusCode >= 500) throw error;
            count.refused++;
          }
        }
        const { kept, known, refused } = count;
        const parts = [
          `Kept: ${kept}`,
          ...(known > 0 ? [`${known} already kept`] : []),
          ...(refused > 0 ? [`${refused} cannot be kept`] : []),
        ];
        return { message: parts.join(', '), ...(refused > 0 && { tone: 'warn' as const }) };
      },
    },
  });

/** The question before sending names all recipients. */
export const draftActs = (draft: MailDraft, state: State): Acts => {
  const { id } = draft;
  const line = `adjutant email drafts send ${id}`;
  const { lines, isShown } = sendQuestion(draft, state);
  return possibleActs<Act>({
    start: {
      ...actTarget('drafts', id, 'sentMails'),
      text: `Send ${shortSubject(draft)}`,
      line,
      doing: 'sending…',
      ask: { lines, deadMs: DEAD_MS },
      ...(!isShown && { refusal: `Too many recipients to show here. Use: ${line}` }),
      call: ({ maildrafts }) =>
        reportDone(
          maildrafts.send({ id, query: { updatedAt: draft.updatedAt } }),
          'Sending. See the Sent tab for its status',
        ),
    },
    delete: {
      ...actTarget('drafts', id),
      text: `Delete draft ${shortSubject(draft)}`,
      line: `adjutant email drafts delete ${id}`,
      doing: 'deleting…',
      ask: { lines: [`Delete the draft ${shortSubject(draft)}? There is no undo.`] },
      call: ({ maildrafts }) => reportDone(maildrafts.delete({ id }), 'The draft is deleted'),
    },
  });
};

export const sentActs = (
  mail: SentMail,
  list: 'sentMails' | 'wholeSentMails' = 'sentMails',
): Acts =>
  possibleActs<Act>({
    stop: mail.status === 'queued' && {
      ...actTarget(list, mail.id),
      text: `Cancel ${shortSubject(mail)}`,
      line: `adjutant email sent cancel ${mail.id}`,
      doing: 'cancelling…',
      ask: { lines: [`Cancel "${shortSubject(mail)}"? Copies already delivered stay.`] },
      call: ({ sentmail }) => reportDone(sentmail.cancel({ id: mail.id }), 'Cancelled'),
    },
  });

const sendQuestion = (draft: MailDraft, { ui }: State): { lines: string[]; isShown: boolean } => {
  const { width, height } = ui.size;
  const all = [...draft.to, ...draft.cc, ...draft.bcc].map(revealInvisible).join(', ') || 'nobody';
  const to = wrapped(`to ${all}`, Math.max(8, width - 2)).map((each) => `  ${each}`);
  return {
    lines: [
      `Send "${shortSubject(draft)}", exactly as shown above?`,
      ...to,
      ...(draft.untrusted
        ? ['UNTRUSTED: an agent wrote the draft after reading external text.']
        : []),
    ],
    isShown: to.length <= Math.max(1, height - FREE_ROWS),
  };
};

export const accountActs = ({ id, address }: MailAccount): Acts =>
  possibleActs<Act>({
    test: {
      ...actTarget('mailAccounts', id),
      text: `Test mail account ${address}`,
      line: `adjutant email accounts test ${id}`,
      doing: 'testing…',
      ask: { lines: [`Test ${revealInvisible(address)} by sending a message to yourself?`] },
      call: async (client) => {
        const { ok, steps } = await client.mailaccounts.test({ id });
        if (ok) return `${address} works`;
        const failed = steps.find(({ status }) => status === 'failed');
        const step = failed ? `${STEPS[failed.step]}: ${failed.detail ?? ''}` : 'unknown step';
        return { message: `Failed at: ${step}`, tone: 'danger' };
      },
    },
    check: {
      ...actTarget('mailAccounts', id, 'mails', 'operations'),
      text: `Process new mail of ${address}`,
      line: `adjutant email process --account ${id}`,
      doing: 'processing…',
      call: async ({ mailprocessing }) => {
        const operation = await mailprocessing.process({ body: { accountId: id } });
        return {
          message: `New mail of ${address} is being processed`,
          opens: { page: 'operation', id: operation.id },
        };
      },
    },
  });
