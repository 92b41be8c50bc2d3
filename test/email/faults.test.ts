import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until } from '../harness/app.js';
import { MAILBOX } from '../harness/mail/dovecot.js';
import { startMailEcho } from '../harness/mail/echo.js';
import { IF_INSTALLED, type MailStage, missing, openMailStage, skipNote } from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const WITH_FILE = [
  'From: bob@example.org',
  'Subject: gone',
  'Content-Type: multipart/mixed; boundary=b',
  '',
  '--b',
  '',
  'Text',
  '--b',
  'Content-Disposition: attachment; filename=a.txt',
  '',
  'Hello',
  '--b--',
].join('\r\n');

describe(`the state of a mail account${skipNote}`, () => {
  let stage: MailStage;
  before(async () => {
    if (!missing) stage = await openMailStage();
  });
  after(() => stage?.stop());

  const stateOf = async (id: string) => {
    const { status, error } = (await stage.call('GET', `/api/email/accounts/${id}`)).body;
    return [status, error];
  };
  const list = async (query: string) =>
    (await stage.call('GET', `/api/email/messages?${query}`)).body.messages;

  for (const kind of ['imap', 'smtp'] as const) {
    it(`repeats no secret that a server repeats (${kind})`, IF_INSTALLED, async () => {
      const echo = await startMailEcho(kind, stage.certificate);
      const server = { host: 'localhost', port: echo.port, tls: 'implicit' };
      const name = `echo-${kind}`;
      const { id } = (await stage.account(name, { [kind]: server })).body;
      const trial = await stage.call('POST', `/api/email/accounts/${id}/test`);
      const notices = await stage.notices('mail_needs_login');
      const all = JSON.stringify([trial.body, await stateOf(id), notices]);
      expect(all).to.contain('refused: ');
      expect(notices.some(({ title }) => title.startsWith(name))).to.be.true();
      const plain = Buffer.from(`\0${name}@example.test\0${MAILBOX}`).toString('base64');
      expect(all).to.not.contain(MAILBOX);
      expect(all).to.not.contain(plain);
      expect(all).to.not.contain(plain.slice(-12));
      echo.close();
    });
  }

  it('is not that of a message that is gone', IF_INSTALLED, async () => {
    const { id } = (await stage.account('gone')).body;
    await stage.dovecot.deliver('gone', WITH_FILE);
    const [message] = await list(`accountId=${id}`);
    const path = `/api/email/messages/${message.id}`;
    const file = await stage.call('GET', `${path}/attachments/0`);
    expect([file.status, file.text]).to.equal([200, 'Hello']);
    const place = stage.dovecot.maildir('gone');
    for (const part of ['new', 'cur']) {
      for (const each of await readdir(join(place, part))) await rm(join(place, part, each));
    }
    for (const gone of [`${path}/attachments/0`, path]) {
      const { status, body } = await stage.call('GET', gone);
      expect([status, body.code]).to.equal([404, 'mail_gone']);
    }
    expect(await stateOf(id)).to.equal(['ok', null]);
  });

  it('is not that of a folder that somebody asks for', IF_INSTALLED, async () => {
    const { id } = (await stage.account('nope')).body;
    const path = `/api/email/messages?accountId=${id}&folder=nope`;
    const { status, body: refused } = await stage.call('GET', path);
    expect([status, refused.details]).to.equal([
      400,
      [{ path: 'folder', message: 'does not match any folder of your mail accounts' }],
    ]);
    expect(await stateOf(id)).to.equal(['ok', null]);
    const body = { accountId: id, folder: 'nope' };
    const begun = await stage.call('POST', '/api/email/process', body);
    const ended = await until(
      async () => (await stage.call('GET', `/api/operations/${begun.body.id}`)).body,
      ({ status }) => status !== 'queued' && status !== 'running',
    );
    expect(ended.error).to.contain('folder not found: nope');
    expect(await stateOf(id)).to.equal(['ok', null]);
    const folders = ['INBOX', 'missing'];
    await stage.call('PATCH', `/api/email/accounts/${id}`, { folders });
    await list(`accountId=${id}`);
    expect((await stateOf(id))[0]).to.equal('failing');
  });

  it('is not that of somebody who does not wait', IF_INSTALLED, async () => {
    const { id } = (await stage.account('left')).body;
    const begun = await stage.call('POST', '/api/email/process', { accountId: id });
    await stage.call('POST', `/api/operations/${begun.body.id}/cancel`);
    await until(
      async () => (await stage.call('GET', `/api/operations/${begun.body.id}`)).body,
      ({ status }) => status !== 'queued' && status !== 'running',
    );
    expect(await stateOf(id)).to.equal(['ok', null]);
  });

  it('has a name that a header can hold', IF_INSTALLED, async () => {
    for (const name of ['a\r\nBcc: eve@example.org', 'a\0', 'Ada \u202egpj.exe', 'a\u2028b']) {
      const { status, body } = await stage.account('named', { name });
      expect(status).to.equal(400);
      expect(body.message).to.contain('no control characters');
    }
    expect(
      (await stage.account('named', { name: 'Ada \u{1f469}\u200d\u{1f4bb} L\u00e9' })).status,
    ).to.equal(201);
  });
});
