import { createHash } from 'node:crypto';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type FaultyImapServer, startFaultyImap } from '../harness/mail/faultyimap.js';
import {
  IF_OPENSSL,
  openScriptedMailStage,
  type ScriptedMailStage,
  unlessOpenssl,
} from './stage.js';

export const lab = Lab.script();
const { after, before, beforeEach, describe, it } = lab;

const SINCE = '2026-01-01T00:00:00.000Z';
const message = (uid: number, subject: string, size = 100) => ({ uid, subject, size });

describe(`a message at a server that repeats and lies${unlessOpenssl}`, () => {
  let stage: ScriptedMailStage;
  let server: FaultyImapServer;
  let accountId: string;
  let hookId: string;
  let accounts = 0;
  before(async () => {
    if (IF_OPENSSL.skip) return;
    stage = await openScriptedMailStage();
    server = await startFaultyImap(stage.certificate);
  });
  beforeEach(async () => {
    if (IF_OPENSSL.skip) return;
    Object.assign(server, { messages: [], folders: {}, uidValidity: 1, uidNext: 1, refused: [] });
    const imap = { host: 'localhost', port: server.port, tls: 'implicit' };
    const over = { imap, syncDays: 3650, folders: ['INBOX', 'Work'] };
    server.folders = { Work: [] };
    accountId = (await stage.account(`once${++accounts}`, over)).body.id;
    const hook = await stage.call('POST', '/api/hooks', {
      ...{ name: 'mail', trigger: 'email', action: 'notify', triggerConfig: { accountId } },
      actionConfig: { notifyMessage: '{{email.subject}}', notifyOwner: true },
    });
    hookId = hook.body.id;
  });
  after(async () => {
    server?.close();
    await stage?.stop();
  });

  const processed = async (): Promise<[error: string | null, processed: number, known: number]> => {
    const { error, result } = await stage.processed({ accountId, since: SINCE });
    return [error, result.processed, result.known];
  };
  /** Subjects of the executions of the hook. */
  const subjects = async (): Promise<string[]> => {
    const { body } = await stage.call('GET', `/api/hooks/${hookId}/executions`);
    return body.executions
      .map(
        (run: { triggerContext: { email: { subject: string } } }) =>
          run.triggerContext.email.subject,
      )
      .sort();
  };
  /** The stored messages by subject. */
  const stored = async (): Promise<[subject: string, id: string][]> => {
    const { body } = await stage.call('GET', `/api/email/messages?accountId=${accountId}`);
    return body.messages
      .map(({ subject, id }: { subject: string; id: string }) => [subject, id])
      .sort();
  };

  it('is processed once, whatever UID it has after a restore', IF_OPENSSL, async () => {
    server.messages = [message(1, 'one'), message(2, 'two')];
    server.uidNext = 3;
    expect(await processed()).to.equal([null, 2, 0]);
    // It was restored: a UID is given again, and what had it has another one.
    server.messages = [message(1, 'three', 70), message(2, 'two'), message(3, 'one')];
    server.uidNext = 2;
    expect(await processed()).to.include([null, 1]);
    server.messages = [message(1, 'two'), message(2, 'three', 70), message(3, 'four', 60)];
    expect(await processed()).to.include([null, 1]);
    server.messages = [];
    expect(await processed()).to.equal([null, 0, 0]);
    server.messages = [message(7, 'two'), message(8, 'one')];
    expect(await processed()).to.include([null, 0]);
    expect(await subjects()).to.equal(['four', 'one', 'three', 'two']);
  });

  it('is processed once if the validity of the folder changes', IF_OPENSSL, async () => {
    server.messages = [message(1, 'one'), message(2, 'two')];
    expect(await processed()).to.equal([null, 2, 0]);
    const before = await stored();
    server.uidValidity = 2;
    // Another message has the UID of the first one.
    server.messages = [message(1, 'three', 70), message(5, 'one'), message(6, 'two')];
    expect(await processed()).to.include([null, 1]);
    expect(await subjects()).to.equal(['one', 'three', 'two']);
    const after = await stored();
    expect(after.map(([subject]) => subject)).to.equal(['one', 'three', 'two']);
    expect(after.filter(([subject]) => subject !== 'three')).to.equal(before);
    server.uidValidity = 1;
    expect(await processed()).to.include([null, 0]);
    expect(await subjects()).to.have.length(3);
  });

  it('is processed once if it is moved or copied', IF_OPENSSL, async () => {
    server.messages = [message(1, 'moved'), message(2, 'copied', 70)];
    expect(await processed()).to.equal([null, 2, 0]);
    server.messages = [message(2, 'copied', 70)];
    server.folders.Work = [message(9, 'moved'), message(10, 'copied', 70), message(11, 'new', 60)];
    expect(await processed()).to.equal([null, 1, 2]);
    server.messages = [message(3, 'moved')];
    server.folders.Work = [];
    expect(await processed()).to.equal([null, 0, 1]);
    expect(await subjects()).to.equal(['copied', 'moved', 'new']);
  });

  it('is processed once, whatever size the server reports', IF_OPENSSL, async () => {
    server.messages = [message(1, 'one'), { ...message(2, 'two'), hasId: false }];
    expect(await processed()).to.equal([null, 2, 0]);
    const before = await stored();
    server.messages = [message(1, 'one', 120), { ...message(2, 'two', 90), hasId: false }];
    expect(await processed()).to.equal([null, 0, 0]);
    expect(await stored()).to.equal(before);
    server.uidValidity = 2;
    server.messages = [message(7, 'one', 130), { ...message(8, 'two', 80), hasId: false }];
    expect(await processed()).to.equal([null, 0, 0]);
    expect(await stored()).to.equal(before);
    server.folders.Work = [message(9, 'one', 140), { ...message(10, 'two', 70), hasId: false }];
    server.messages = [];
    expect(await processed()).to.equal([null, 0, 2]);
    expect(await subjects()).to.equal(['one', 'two']);
  });

  it(
    'is another one if its first words differ, and no server has received it',
    IF_OPENSSL,
    async () => {
      const twin = (uid: number, text: string, header: string) => ({
        ...message(uid, 'twin'),
        ...{ text, header: `${header}Subject: twin\r\n\r\n` },
      });
      const received = 'Received: from a by b; Sun, 1 Feb 2026 09:30:00 +0000\r\n';
      server.messages = [twin(1, 'x', ''), twin(2, 'y', ''), twin(3, 'x', '')];
      expect(await processed()).to.equal([null, 2, 1]);
      server.messages = [twin(4, 'x', received)];
      expect(await processed()).to.equal([null, 1, 0]);
      // A server marks it as spam, folds its header and reports another text.
      const folded = received.replace('by b;', 'by b;\r\n\t');
      server.messages = [twin(5, 'y', `X-Spam-Flag: YES\r\n${folded}`)];
      expect(await processed()).to.equal([null, 0, 1]);
    },
  );

  it('is processed once if an earlier version has recorded it', IF_OPENSSL, async () => {
    server.messages = [message(1, 'moved'), message(2, 'renumbered'), message(3, 'resized')];
    expect(await processed()).to.equal([null, 3, 0]);
    const before = await stored();
    const { db } = stage.app.app.store;
    const rows = await db
      .selectFrom('mail_messages')
      .select(['subject', 'identity'])
      .where('account_id', '=', accountId)
      .execute();
    for (const { subject, identity } of rows) {
      const facts = `<${subject}@liar.example.org> 100 Subject: ${subject}\r\n\r\n`;
      const earlier = `message:${createHash('sha256').update(facts).digest('base64url')}`;
      for (const table of ['mail_messages', 'mail_processed'] as const) {
        const changed = db.updateTable(table).set({ identity: earlier });
        await changed.where('identity', '=', identity).execute();
      }
    }
    server.messages = [message(2, 'renumbered'), message(3, 'resized', 120)];
    server.folders.Work = [message(9, 'moved')];
    expect(await processed()).to.equal([null, 0, 1]);
    server.uidValidity = 2;
    server.messages = [message(7, 'renumbered'), message(8, 'resized', 120)];
    expect(await processed()).to.equal([null, 0, 0]);
    const kept = before.filter(([subject]) => subject !== 'moved');
    expect((await stored()).filter(([subject]) => subject !== 'moved')).to.equal(kept);
    expect(await subjects()).to.equal(['moved', 'renumbered', 'resized']);
  });

  it('is processed once by two operations at the same time', IF_OPENSSL, async () => {
    server.messages = Array.from({ length: 20 }, (_, at) => message(at + 1, `Mail ${at}`));
    const both = await Promise.all([processed(), processed()]);
    expect(both.map(([, count]) => count).reduce((sum, count) => sum + count)).to.equal(20);
    expect(new Set(await subjects()).size).to.equal(20);
    expect(await subjects()).to.have.length(20);
  });

  it('is not held up by another one that is not returned', IF_OPENSSL, async () => {
    server.messages = [message(11, 'five', 50), message(12, 'six', 60), message(13, 'seven', 70)];
    server.refused = [12];
    expect(await processed()).to.equal([null, 2, 0]);
    expect(await subjects()).to.equal(['five', 'seven']);
    server.refused = [];
    expect(await processed()).to.equal([null, 1, 0]);
    expect(await subjects()).to.equal(['five', 'seven', 'six']);
  });
});
