import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { emailTools } from '../../src/tools/email.js';
import { type FaultyImapServer, startFaultyImap } from '../harness/mail/faultyimap.js';
import {
  IF_OPENSSL,
  openScriptedMailStage,
  type ScriptedMailStage,
  unlessOpenssl,
} from './stage.js';

export const lab = Lab.script();
const { after, before, beforeEach, describe, it } = lab;

const message = (uid: number, subject: string, more: object = {}) => ({
  ...{ uid, subject, size: 100, text: subject },
  ...more,
});
const part = '("TEXT" "PLAIN" NIL NIL NIL "7BIT" 1 1)';
const file = '("APPLICATION" "PDF" ("NAME" "a.pdf") NIL NIL "7BIT" 1)';
const WITH_FILE = `(${part}${file} "MIXED")`;

describe(`an e-mail of a scripted server${unlessOpenssl}`, () => {
  let stage: ScriptedMailStage;
  let server: FaultyImapServer;
  let accountId: string;
  let accounts = 0;
  before(async () => {
    if (IF_OPENSSL.skip) return;
    stage = await openScriptedMailStage();
    server = await startFaultyImap(stage.certificate);
  });
  beforeEach(async () => {
    if (IF_OPENSSL.skip) return;
    Object.assign(server, { messages: [], folders: { Work: [] }, uidValidity: 1 });
    const imap = { host: 'localhost', port: server.port, tls: 'implicit' };
    const over = { imap, syncDays: 3650, folders: ['INBOX'] };
    accountId = (await stage.account(`ids${++accounts}`, over)).body.id;
  });
  after(async () => {
    server?.close();
    await stage?.stop();
  });

  const list = async (): Promise<{ id: string; subject: string; attachmentsOmitted: number }[]> => {
    // Messages that were updated a moment ago are not updated again.
    stage.clock.forward(5000);
    return (await stage.call('GET', `/api/email/messages?accountId=${accountId}`)).body.messages;
  };
  const read = async (id = '', more = '') => {
    const { status, body } = await stage.call('GET', `/api/email/messages/${id}${more}`);
    return [status, body.code ?? body.text];
  };
  /** Ids of the listed messages by subject. */
  const ids = async (): Promise<Record<string, string>> =>
    Object.fromEntries((await list()).map(({ id, subject }) => [subject, id]));

  const RENUMBERED = [409, 'mail_renumbered'];

  for (const hasId of [true, false]) {
    const which = hasId ? 'with' : 'without';
    it(`is never shown under the id of another one (${which} Message-ID)`, IF_OPENSSL, async () => {
      const more = { hasId, structure: WITH_FILE };
      server.messages = [message(1, 'one', more), message(2, 'two', more)];
      const { one = '', two = '' } = await ids();
      expect(await read(one)).to.equal([200, 'one']);
      // The server was restored: other messages of the same size and time have the UIDs.
      server.messages = [message(1, 'two', more), message(2, 'three', more)];
      expect(await read(one)).to.equal(RENUMBERED);
      expect(await read(two, '/attachments/0')).to.equal(RENUMBERED);
      const again = await ids();
      expect(again).to.include({ two });
      expect(Object.keys(again).sort()).to.equal(['three', 'two']);
      expect(await read(two)).to.equal([200, 'two']);
      expect((await read(one))[0]).to.equal(404);
    });
  }

  it('keeps its id if the validity of its folder changes', IF_OPENSSL, async () => {
    server.messages = [message(1, 'one'), message(2, 'two')];
    const { one = '', two = '' } = await ids();
    server.uidValidity = 2;
    server.messages = [message(1, 'two'), message(2, 'one')];
    expect([await read(one), await read(two)]).to.equal([RENUMBERED, RENUMBERED]);
    const { body } = await stage.call('GET', `/api/email/messages/${one}`);
    expect(body.message).to.contain('List the messages again');
    expect(await ids()).to.equal({ one, two });
    expect([await read(one), await read(two)]).to.equal([
      [200, 'one'],
      [200, 'two'],
    ]);
  });

  it('says that it was moved', IF_OPENSSL, async () => {
    server.messages = [message(1, 'one')];
    const { one = '' } = await ids();
    server.folders.Work = server.messages;
    server.messages = [];
    expect(await read(one)).to.equal([404, 'mail_gone']);
    await list();
    const { status, body } = await stage.call('GET', `/api/email/messages/${one}`);
    expect(status).to.equal(404);
    expect(body.message).to.contain('moved').and.contain('List the messages again');
  });

  it('counts the attachments that are not listed', IF_OPENSSL, async () => {
    const structure = `(${part}${file.repeat(203)} "MIXED")`;
    server.messages = [
      message(1, 'many', { structure }),
      message(2, 'one', { structure: WITH_FILE }),
    ];
    const found = await list();
    expect(found.map(({ subject, attachmentsOmitted }) => [subject, attachmentsOmitted])).to.equal([
      ['one', 0],
      ['many', 3],
    ]);
    const [, many] = found;
    const { body } = await stage.call('GET', `/api/email/messages/${many?.id}`);
    expect([body.attachments.length, body.attachmentsOmitted]).to.equal([200, 3]);
    const context = { userId: stage.userId, signal: new AbortController().signal };
    const read = async (attachmentsOmitted: number) => {
      const mail = { ...body, from: null, to: [], attachmentsOmitted };
      const email = { read: async () => ({ mail, text: 'many', problem: null }) };
      const tool = emailTools(email as never).tools.find(({ name }) => name === 'read');
      return tool?.run({ id: many?.id }, context as never);
    };
    expect(await read(3)).to.include({
      note: 'Attachments and parts that are not listed: 3. Open the e-mail in a mail program to see them.',
    });
    expect(await read(0)).to.not.include('note');
  });
});
