import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { ImapFlow } from 'imapflow';
import { FOLDER_WATCH_TIMES, watchFolders } from '../../src/email/watch/folderwatch.js';
import { frozenClock, until } from '../harness/app.js';
import { startFaultyImap } from '../harness/mail/faultyimap.js';
import { IF_INSTALLED, type MailStage, missing, openMailStage, skipNote } from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const mail = (subject: string): string =>
  `From: bob@example.org\r\nSubject: ${subject}\r\nMessage-ID: <${subject}@example.org>\r\n\r\nx`;

describe(`the stay in a mailbox${skipNote}`, () => {
  let stage: MailStage;
  before(async () => {
    if (!missing) stage = await openMailStage();
  });
  /** The watched accounts are read every half second. */
  const accountsChecked = async (): Promise<void> => {
    await stage.clock.waiting(500);
    stage.clock.forward(500);
  };
  after(() => stage?.stop());

  it('asks a server that has no IDLE, and looks at every folder', IF_INSTALLED, async () => {
    const liar = await startFaultyImap(stage.certificate);
    const session = new ImapFlow({
      ...{ host: 'localhost', port: liar.port, secure: true, logger: false },
      ...{ auth: { user: 'ada', pass: 'x' }, disableAutoIdle: true },
    });
    await session.connect();
    expect(session.capabilities.has('IDLE')).to.be.false();
    const account = await stage.app.app.store.db
      .selectFrom('mail_accounts')
      .selectAll()
      .where('id', '=', (await stage.account('polled')).body.id)
      .executeTakeFirstOrThrow();
    const end = new AbortController();
    const looks: string[] = [];
    const clock = frozenClock();
    const stay = watchFolders({
      clock,
      session,
      place: { account },
      folders: ['INBOX', 'Work'],
      times: FOLDER_WATCH_TIMES,
      signal: end.signal,
      look: async ({ folder }) => void looks.push(folder),
      looked: async () => undefined,
    });
    const { othersMs, settleMs } = FOLDER_WATCH_TIMES;
    for (const pauseMs of [othersMs, settleMs, othersMs, settleMs]) {
      await clock.waiting(pauseMs);
      clock.forward(pauseMs);
    }
    await clock.waiting(othersMs);
    end.abort();
    await expect(stay).to.reject();
    expect(looks).to.equal(['Work', 'INBOX', 'Work', 'INBOX', 'Work', 'INBOX']);
    session.close();
    liar.close();
  });

  it('ends without a fault when its account is deleted', IF_INSTALLED, async () => {
    await stage.dovecot.deliver('deleted', mail('work'), 'Work');
    const over = { watch: true, folders: ['INBOX', 'Work'] };
    const { id } = (await stage.account('deleted', over)).body;
    await accountsChecked();
    await until(
      async () => (await stage.call('GET', `/api/email/accounts/${id}`)).body,
      ({ lastSyncAt }) => lastSyncAt !== null,
    );
    const sessions = async () =>
      (await stage.dovecot.log()).split('\n').filter((line) => line.includes('(deleted)'));
    expect((await sessions()).filter((line) => /Logged out|Disconnected/.test(line))).to.equal([]);
    const { status } = await stage.call('DELETE', `/api/email/accounts/${id}`);
    expect(status).to.equal(204);
    await accountsChecked();
    await until(sessions, (all) => all.some((line) => /Logged out|Disconnected/.test(line)));
    const lines = stage.app.recent.after(null);
    expect(lines.filter(({ level }) => level !== 'info' && level !== 'debug')).to.equal([]);
    expect(lines.filter(({ text }) => text.includes('reconnecting to a mailbox'))).to.equal([]);
  });
});
