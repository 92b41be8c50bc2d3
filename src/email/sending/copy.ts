import type { Job } from '../../jobs/module.js';
import { MailFault } from '../../providers/mail/fault.js';
import type { ImapSession } from '../../providers/mail/imap.js';
import type { MailAccountRow, SentMailRow } from '../../store/tables/mail.js';
import type { MailAccess } from '../accounts/access.js';
import { AttachmentGone, type MailFiles, writeMail } from './compose.js';
import type { SentMailStore } from './queries.js';

interface CopyDeps {
  sent: SentMailStore;
  access: MailAccess;
  files: MailFiles;
}

/**
 * Skipped if a message with the Message-ID exists: some servers save it, or an earlier run did.
 * This is the only IMAP write. A failure is recorded and causes no resend.
 */
export const saveCopy = async (
  { sent, access, files }: CopyDeps,
  { job, row, account }: { job: Job; row: SentMailRow; account: MailAccountRow },
  signal: AbortSignal,
): Promise<void> => {
  const problem = await tried(async () => {
    const message = await writeMail(files, row, account);
    await access.imap(account, { signal }, (session) => append(session, { row, account, message }));
  });
  const changes: Partial<SentMailRow> =
    problem === null
      ? { copy: 'saved' }
      : {
          copy: 'failed',
          error: `The e-mail was sent, but the copy in the sent folder was not saved: ${problem}`,
        };
  if (!(await sent.settle(row, changes, [sent.drop(job)]))) await sent.write([sent.drop(job)]);
};

const tried = async (work: () => Promise<void>): Promise<string | null> => {
  try {
    await work();
    return null;
  } catch (error) {
    if (error instanceof MailFault || error instanceof AttachmentGone) return error.message;
    throw error;
  }
};

const append = async (
  session: ImapSession,
  { row, account, message }: { row: SentMailRow; account: MailAccountRow; message: Buffer },
): Promise<void> => {
  const { message_id: id, created_at: at } = row;
  const listed = await session.list();
  const folder = listed.find(({ specialUse }) => specialUse === '\\Sent');
  if (!folder) {
    const { host } = JSON.parse(account.imap);
    throw new MailFault(
      'server',
      host,
      'the mailbox has no sent folder. Create one, or set saveSent of the mail account to false',
    );
  }
  await session.mailboxOpen(folder.path, { readOnly: true });
  const found = await session.search({ header: { 'message-id': id } }, { uid: true });
  if (found && found.length > 0) return;
  await session.append(folder.path, message, ['\\Seen'], new Date(at));
};
