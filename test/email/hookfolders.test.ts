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

describe(`the mail folder of a hook${unlessOpenssl}`, () => {
  let stage: ScriptedMailStage;
  let server: FaultyImapServer;
  let accountId: string;
  before(async () => {
    if (IF_OPENSSL.skip) return;
    stage = await openScriptedMailStage();
    server = await startFaultyImap(stage.certificate);
    const imap = { host: 'localhost', port: server.port, tls: 'implicit' };
    const over = { imap, folders: ['INBOX', 'Later'] };
    accountId = (await stage.account('hooked', over)).body.id;
  });
  beforeEach(() => {
    if (!IF_OPENSSL.skip) Object.assign(server, { folders: { Work: [] }, commands: [] });
  });
  after(async () => {
    server?.close();
    await stage?.stop();
  });

  const create = async (triggerConfig: object) =>
    stage.call('POST', '/api/hooks', {
      ...{ name: 'mail', trigger: 'email', action: 'notify', triggerConfig },
      actionConfig: { notifyMessage: '{{email.subject}}' },
    });
  const MESSAGE = 'does not match any folder of the mail account. Folders: INBOX, Work';

  it('is one of the account', IF_OPENSSL, async () => {
    const made = await create({ accountId, folder: 'Work' });
    expect([made.status, made.body.triggerConfig]).to.equal([201, { accountId, folder: 'Work' }]);
    for (const folder of ['work', 'Nowhere']) {
      for (const of of [{ accountId, folder }, { folder }]) {
        const { status, body } = await create(of);
        expect([status, body.details]).to.equal([
          400,
          [{ path: 'triggerConfig.folder', message: MESSAGE }],
        ]);
      }
    }
  });

  it('is not searched at the server if it is configured', IF_OPENSSL, async () => {
    expect((await create({ accountId, folder: 'Later' })).status).to.equal(201);
    expect(server.commands).to.equal([]);
  });

  it('is checked when it is changed, and else may be gone', IF_OPENSSL, async () => {
    const { id } = (await create({ accountId, folder: 'Work' })).body;
    const update = (body: object) => stage.call('PUT', `/api/hooks/${id}`, body);
    server.folders = {};
    const triggerConfig = { accountId, folder: 'Work' };
    expect((await update({ description: 'x', triggerConfig })).status).to.equal(200);
    const wrong = await update({ triggerConfig: { accountId, folder: 'Nowhere' } });
    expect([wrong.status, wrong.body.details[0].path]).to.equal([400, 'triggerConfig.folder']);
    const inbox = await update({ triggerConfig: { accountId, folder: 'INBOX' } });
    expect([inbox.status, inbox.body.triggerConfig.folder]).to.equal([200, 'INBOX']);
  });

  it('is saved with a note if the server cannot be reached', IF_OPENSSL, async () => {
    const other = (await stage.account('away')).body.id;
    const { status, body } = await create({ accountId: other, folder: 'Work' });
    expect(status).to.equal(201);
    const { note } = body.triggerConfig;
    expect(note).to.match(/^The folder could not be checked.*: localhost: cannot be reached/);
    const { triggerConfig } = (await stage.call('GET', `/api/hooks/${body.id}`)).body;
    expect(triggerConfig).to.equal({ accountId: other, folder: 'Work' });
    const back = await stage.call('PUT', `/api/hooks/${body.id}`, {
      triggerConfig: body.triggerConfig,
    });
    expect(back.status).to.equal(200);
    await stage.call('DELETE', `/api/email/accounts/${other}?force=true`);
  });

  it('is not checked without an account', IF_OPENSSL, async () => {
    const { token } = await stage.app.register('bob');
    const hook = { name: 'later', trigger: 'email', triggerConfig: { folder: 'Work' } };
    const action = { action: 'notify', actionConfig: { notifyMessage: 'x' } };
    const { status } = await stage.call('POST', '/api/hooks', { ...hook, ...action }, token);
    expect(status).to.equal(201);
  });
});
