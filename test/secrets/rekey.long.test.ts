import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { generate } from 'otplib';
import { loadMasterKey } from '../../src/secrets/master.js';
import { SEALED } from '../../src/secrets/sealedcolumns.js';
import { PASSWORD, sign, startApp, type TestApp } from '../harness/app.js';
import { inside } from '../harness/inside.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

const CANARY = 'canary-of-the-vault-7c1f';

describe('a change of the master key', () => {
  let app: TestApp;
  let token: string;
  let credential: string;
  let totpSecret: string;

  beforeEach(async () => {
    app = await startApp();
    ({ token } = await app.register('ada'));
    credential = (await ask('POST', '/api/vault', { name: 'one', value: CANARY })).body.id;
    await ask('POST', '/api/hooks', hookWith({ webhookSecret: 'of the hook' }));
    await ask('POST', '/api/models', MODEL);
    totpSecret = (await ask('POST', '/api/auth/totp/setup', {})).body.secret;
  });
  afterEach(() => app.stop());

  const ask = (method: string, path: string, body?: unknown) =>
    app.call(method, path, { token, ...(body !== undefined && { body }) });
  const rekey = () => ask('POST', '/api/admin/vault/rekey');
  /** As a bad block does, or whoever writes into the database. */
  const damage = () =>
    app.app.store.db.updateTable('models').set({ key_sealed: 'e1.AAAA.AAAA' }).execute();
  const keyFile = () => join(app.home, 'keys', 'master.key');

  /** Everything that is under the master key does what it is for. */
  const expectAll = async () => {
    const revealed = await ask('POST', `/api/vault/${credential}/reveal`, { password: PASSWORD });
    expect(revealed.body).to.equal({ value: CANARY });
    const body = '{"n":1}';
    const headers = { 'x-hub-signature-256': sign('of the hook', body) };
    const delivered = await app.call('POST', '/api/webhooks/in', { headers, body });
    expect(delivered.status).to.equal(202);
    expect((await ask('GET', '/api/models/mine')).body.apiKeySet).to.be.true();
    const verdict = await ask('GET', '/api/admin/audit/verify');
    expect([verdict.status, verdict.body.ok]).to.equal([200, true]);
  };

  it('keeps all that is under it, over a restart too', async () => {
    const before = readFileSync(keyFile(), 'utf8');
    const { status, body } = await rekey();
    expect({ status, body }).to.equal({
      status: 200,
      body: { rewrapped: 7, finishedAt: body.finishedAt },
    });
    await expectAll();
    await app.restart();
    await expectAll();
    const code = await generate({ secret: totpSecret });
    expect((await ask('POST', '/api/auth/totp/enable', { code })).status).to.be.below(300);
    expect(readFileSync(keyFile(), 'utf8')).to.not.equal(before);
    expect(statSync(keyFile()).mode & 0o777).to.equal(0o600);
    expect(existsSync(`${keyFile()}.next`)).to.be.false();
  });

  it('keeps codes that are under way, over a restart too', async () => {
    const { code } = (await ask('POST', '/api/channels/codes')).body;
    await rekey();
    await app.restart();
    const { links } = inside(app.app);
    const channel = await links.redeemFrom({ kind: 'slack', id: 'T1/U1', name: 'Ada' }, code);
    expect(channel.kind).to.equal('slack');
  });

  it('can be made again and again, and the audit log still verifies', async () => {
    for (let n = 0; n < 3; n++) expect((await rekey()).status).to.equal(200);
    await app.restart();
    await rekey();
    await expectAll();
  });

  it('leaves nothing that the old key opens', async () => {
    const { keyring } = loadMasterKey(app.home, null);
    await rekey();
    const row = await app.app.store.db
      .selectFrom('models')
      .select(['id', 'key_sealed'])
      .executeTakeFirstOrThrow();
    expect(() => keyring.unseal(`models:${row.id}:key`, row.key_sealed ?? '')).to.throw();
  });

  it('is gone on with by the next start, where it was cut short in the middle', async () => {
    const { db } = app.app.store;
    const old = readFileSync(keyFile(), 'utf8');
    const { key_sealed } = await db
      .selectFrom('models')
      .select('key_sealed')
      .executeTakeFirstOrThrow();
    await rekey();
    const fresh = readFileSync(keyFile(), 'utf8');
    await db.updateTable('models').set({ key_sealed }).execute();
    await db.deleteFrom('facts').where('name', '=', 'audit_key').execute();
    await app.app.close();
    writeFileSync(keyFile(), old);
    writeFileSync(`${keyFile()}.next`, fresh, { mode: 0o600 });
    await app.restart();
    await expectAll();
    expect(readFileSync(keyFile(), 'utf8')).to.equal(fresh);
    expect(existsSync(`${keyFile()}.next`)).to.be.false();
  });

  it('is ended by the next start, where all but the file was done', async () => {
    const old = readFileSync(keyFile(), 'utf8');
    await rekey();
    const fresh = readFileSync(keyFile(), 'utf8');
    await app.app.close();
    writeFileSync(keyFile(), old);
    writeFileSync(`${keyFile()}.next`, fresh, { mode: 0o600 });
    await app.restart();
    await expectAll();
    expect(readFileSync(keyFile(), 'utf8')).to.equal(fresh);
  });

  it('has begun when only the coming key is there', async () => {
    await app.app.close();
    const coming = Buffer.alloc(32, 7).toString('base64');
    writeFileSync(`${keyFile()}.next`, `${coming}\n`, { mode: 0o600 });
    await app.restart();
    await expectAll();
    expect(readFileSync(keyFile(), 'utf8')).to.equal(`${coming}\n`);
  });

  it('has not begun while the coming key is cut short', async () => {
    await app.app.close();
    writeFileSync(`${keyFile()}.next`, 'AAAA', { mode: 0o600 });
    await app.restart();
    await expectAll();
    expect((await rekey()).status).to.equal(200);
    await expectAll();
  });

  it('is not begun over a value that is damaged, and names it', async () => {
    const before = readFileSync(keyFile(), 'utf8');
    await damage();
    const refused = await rekey();
    expect([refused.status, refused.body.code]).to.equal([409, 'value_damaged']);
    expect(refused.body.message).to.match(/: models\.key_sealed of model_\w+$/);
    expect([readFileSync(keyFile(), 'utf8'), existsSync(`${keyFile()}.next`)]).to.equal([
      before,
      false,
    ]);
    await ask('DELETE', '/api/models/mine');
    expect((await rekey()).status).to.equal(200);
  });

  it('keeps both keys where a value was damaged before it could be ended', async () => {
    await app.app.close();
    const coming = Buffer.alloc(32, 7).toString('base64');
    writeFileSync(`${keyFile()}.next`, `${coming}\n`, { mode: 0o600 });
    const old = readFileSync(keyFile(), 'utf8');
    await app.restart();
    writeFileSync(`${keyFile()}.next`, old, { mode: 0o600 });
    await damage();
    await app.restart();
    expect(existsSync(`${keyFile()}.next`)).to.be.true();
    const revealed = await ask('POST', `/api/vault/${credential}/reveal`, { password: PASSWORD });
    expect(revealed.body).to.equal({ value: CANARY });
    await ask('DELETE', '/api/models/mine');
    expect((await rekey()).status).to.equal(200);
    expect(existsSync(`${keyFile()}.next`)).to.be.false();
    await app.restart();
  });

  it('goes on while secrets are written, and none is lost', async () => {
    const writing = Array.from({ length: 30 }, (_, n) =>
      ask('POST', '/api/vault', { name: `at-once-${n}`, value: `value ${n}` }),
    );
    const [reply, again] = await Promise.all([rekey(), rekey()]);
    expect([reply.status, again.status].sort()).to.equal([200, 409]);
    const made = await Promise.all(writing);
    await app.restart();
    for (const [n, { body }] of made.entries()) {
      const path = `/api/vault/${body.id}/reveal`;
      const revealed = await ask('POST', path, { password: PASSWORD });
      expect(revealed.body).to.equal({ value: `value ${n}` });
    }
  });

  it('is refused where the key comes from the settings', async () => {
    const masterKey = readFileSync(keyFile(), 'utf8');
    await app.restart({ masterKey });
    const { status, body } = await rekey();
    expect([status, body.code]).to.equal([409, 'key_from_settings']);
  });

  it('knows every column that holds something sealed', async () => {
    const [outcome] = await app.app.store.transact([COLUMNS]);
    const known = SEALED.map(({ table, column }) => JSON.stringify({ table, column }));
    const there = (outcome?.rows ?? []).map((row) => JSON.stringify(row));
    expect(there.filter((one) => !known.includes(one))).to.equal([]);
    expect(there.length).to.equal(known.length - 1);
  });

  it('leaves no value in any file of the home', async () => {
    await ask('POST', `/api/vault/${credential}/rotate`, { value: `${CANARY}-2` });
    await rekey();
    const files = readdirSync(app.home, { recursive: true, withFileTypes: true });
    const holding = files
      .filter((file) => file.isFile())
      .map((file) => join(file.parentPath, file.name))
      .filter((path) => {
        const bytes = readFileSync(path);
        return SECRETS.some((secret) => bytes.includes(secret));
      });
    expect(holding).to.equal([]);
    const replies = ['/api/vault', '/api/hooks', '/api/models', '/api/admin/audit?limit=200'];
    for (const path of replies) {
      const { text } = await ask('GET', path);
      expect(SECRETS.filter((secret) => text.includes(secret))).to.equal([]);
    }
  });
});

const MODEL = {
  name: 'mine',
  provider: 'openai-compatible',
  modelId: 'one',
  baseUrl: 'http://127.0.0.1:9/v1',
  apiKey: 'key-of-the-model',
};
const SECRETS = [CANARY, 'of the hook', MODEL.apiKey];

const COLUMNS = {
  sql: `SELECT m.name AS "table", c.name AS "column" FROM sqlite_master AS m
    JOIN pragma_table_info(m.name) AS c WHERE m.type = 'table' AND c.name LIKE '%sealed%'`,
  parameters: [],
};

const hookWith = (triggerConfig: object) => ({
  name: 'in',
  trigger: 'webhook',
  triggerConfig: { webhookPath: 'in', ...triggerConfig },
  action: 'notify',
  actionConfig: { notifyMessage: 'It came' },
});
