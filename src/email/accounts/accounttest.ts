import Boom from '@hapi/boom';
import type { Clock } from '../../kernel/clock.js';
import { hopHeader } from '../../kernel/hops.js';
import { mint } from '../../kernel/ids.js';
import { parseAuthservId } from '../../providers/mail/authentication.js';
import { getAddressDomain } from '../../providers/mail/autoconfig.js';
import { composeMail } from '../../providers/mail/compose.js';
import { MailFault } from '../../providers/mail/fault.js';
import type { ImapSession } from '../../providers/mail/imap.js';
import { ReplyLost } from '../../providers/mail/smtp.js';
import type { MailAccountRow } from '../../store/tables/mail.js';
import type { MailAccess } from './access.js';
import type { MailAccountTest } from './contract.js';

type TrialStep = MailAccountTest['steps'][number];

/**
 * Recorded before it is sent. Resolves to a function for the server reply: null, or the reason of
 * the rejection. Throws 429 beyond the hourly limit.
 */
export type RecordMailTest = (
  account: MailAccountRow,
  message: { messageId: string; subject: string; text: string },
) => Promise<(refused: string | null) => Promise<void>>;

interface MailTestDeps {
  clock: Clock;
  access: MailAccess;
  recordTest: RecordMailTest;
}

interface Trial {
  maySend: boolean;
  signal: AbortSignal;
}

export interface MailTestResult {
  steps: TrialStep[];
  /** null if the server wrote none. */
  authservId: string | null;
}

const ARRIVAL_MS = 30_000;
const LOOK_MS = 500;

export const testMailAccount = async (
  { clock, access, recordTest }: MailTestDeps,
  account: MailAccountRow,
  { maySend, signal }: Trial,
): Promise<MailTestResult> => {
  const steps: TrialStep[] = [];
  const { did, failed, skipped } = recorder(steps);
  try {
    await access.imap(account, { signal }, async (session) => {
      did('imap_login', [...session.capabilities.keys()].join(' ').slice(0, 900));
      did('imap_folders', await checkFolders(session, account));
      if (session.capabilities.has('IDLE')) did('imap_idle', null);
      else skipped('imap_idle', 'The server does not support IDLE. It is polled every few minutes');
    });
    const messageId = `<${mint('test', clock.now())}@${getAddressDomain(account.address)}>`;
    const session = await access.smtp(account, signal);
    try {
      did('smtp_login', null);
      if (!maySend) {
        skipped(
          'smtp_send',
          'You do not have the permission `email`. Ask an admin for the permission',
        );
        skipped('arrival', null);
        return { steps, authservId: null };
      }
      const { address } = account;
      const message = await testMessage(account, { messageId, date: new Date(clock.now()) });
      const answered = await recordTest(account, { messageId, ...TEST });
      await recordReply(answered, () => session.send({ from: address, to: [address] }, message));
      did('smtp_send', messageId);
    } finally {
      session.close();
    }
    const header = await waitForArrival({ clock, access }, account, { messageId, signal });
    did('arrival', header.folder);
    return { steps, authservId: parseAuthservId(header.text) };
  } catch (error) {
    signal.throwIfAborted();
    const isLimit = Boom.isBoom(error, 429);
    if (!(isLimit || error instanceof MailFault)) throw error;
    failed(error.message);
    return { steps, authservId: null };
  }
};

const ORDER = [
  ...(['imap_login', 'imap_folders', 'imap_idle'] as const),
  ...(['smtp_login', 'smtp_send', 'arrival'] as const),
];

const recorder = (steps: TrialStep[]) => {
  let began = performance.now();
  const add = (step: TrialStep['step'], status: TrialStep['status'], detail: string | null) => {
    const durationMs = Math.round(performance.now() - began);
    began = performance.now();
    steps.push({ step, status, detail, durationMs });
  };
  return {
    did: (step: TrialStep['step'], detail: string | null) => add(step, 'ok', detail),
    skipped: (step: TrialStep['step'], detail: string | null) => add(step, 'skipped', detail),
    /** The step after the last successful one failed. */
    failed: (detail: string) => add(ORDER[steps.length] ?? 'arrival', 'failed', detail),
  };
};

const checkFolders = async (session: ImapSession, { folders, imap }: MailAccountRow) => {
  const listed = await session.list();
  const names = new Set(listed.map(({ path }) => path));
  const wanted: string[] = JSON.parse(folders);
  const missing = wanted.filter((name) => !names.has(name));
  if (missing.length === 0) return wanted.join(', ').slice(0, 900);
  const { host } = JSON.parse(imap);
  throw new MailFault(
    'server',
    host,
    `folder not found: ${missing.join(', ')}. Correct the folders of the mail account`,
  );
};

const TEST = {
  subject: 'Test of your mail account',
  text: 'Adjutant sent this message from your mail account to itself to test delivery.\n',
};

/** A lost reply stays unknown. */
const recordReply = async (
  answered: (refused: string | null) => Promise<void>,
  send: () => Promise<unknown>,
): Promise<void> => {
  try {
    await send();
  } catch (error) {
    if (error instanceof MailFault && !(error instanceof ReplyLost)) await answered(error.message);
    throw error;
  }
  await answered(null);
};

const testMessage = (
  { address, name }: MailAccountRow,
  { messageId, date }: { messageId: string; date: Date },
): Promise<Buffer> =>
  composeMail({
    messageId,
    date,
    from: { name, address },
    to: [address],
    ...TEST,
    // No automatic reply, and no hook starts.
    isAutomatic: true,
    headers: hopHeader(),
  });

interface ArrivedHeader {
  folder: string;
  /** As received. */
  text: string;
}

/** Throws MailFault `timeout`. */
const waitForArrival = (
  { clock, access }: Pick<MailTestDeps, 'clock' | 'access'>,
  account: MailAccountRow,
  { messageId, signal }: { messageId: string; signal: AbortSignal },
): Promise<ArrivedHeader> =>
  access.imap(account, { signal }, async (session) => {
    const folders = await arrivalFolders(session);
    const late = clock.deadline(ARRIVAL_MS);
    for (;;) {
      for (const folder of folders) {
        const text = await headerIn(session, folder, messageId);
        if (text !== null) return { folder, text };
      }
      if (late.aborted) break;
      await clock.wait(LOOK_MS, signal);
    }
    const { host } = JSON.parse(account.imap);
    throw new MailFault(
      'timeout',
      host,
      `the test message was sent but was not found in the mailbox within ${ARRIVAL_MS / 1000} s. Check the spam folder and the address of the account`,
    );
  });

/** Inbox, spam and all mail. */
const arrivalFolders = async (session: ImapSession): Promise<string[]> => {
  const listed = await session.list();
  const places = listed.filter(({ specialUse }) => /^\\(?:Junk|All)$/.test(specialUse ?? ''));
  return ['INBOX', ...places.map(({ path }) => path)];
};

const headerIn = async (
  session: ImapSession,
  folder: string,
  messageId: string,
): Promise<string | null> => {
  const lock = await session.getMailboxLock(folder, { readOnly: true });
  try {
    const found = await session.search({ header: { 'message-id': messageId } }, { uid: true });
    const [uid] = found || [];
    if (uid === undefined) return null;
    const message = await session.fetchOne(`${uid}`, { headers: true }, { uid: true });
    return message ? (message.headers?.toString('latin1') ?? '') : null;
  } finally {
    lock.release();
  }
};
