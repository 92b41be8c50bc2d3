import { createServer, type Server } from 'node:net';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { MAILBOX } from '../harness/mail/dovecot.js';
import { type FaultyImapServer, startFaultyImap } from '../harness/mail/faultyimap.js';
import { startSmtp } from '../harness/mail/smtp.js';
import { startTokens, type TokenService } from '../harness/mail/tokens.js';
import { makeToken } from '../harness/token.js';
import {
  IF_OPENSSL,
  openScriptedMailStage,
  type ScriptedMailStage,
  statesOf,
  unlessOpenssl,
  WHOLE,
} from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

/** Header of the test message. */
const ARRIVED = [
  'Authentication-Results: mx.example.test; spf=pass smtp.mailfrom=example.test',
  'Received: from client.example.test by mx.example.test; Sat, 31 Jan 2026 09:30:00 +0000',
  ...['Subject: test', '', ''],
].join('\r\n');

describe(`mail accounts${unlessOpenssl}`, () => {
  let stage: ScriptedMailStage;
  let server: FaultyImapServer;
  let tokens: TokenService;
  before(async () => {
    if (IF_OPENSSL.skip) return;
    stage = await openScriptedMailStage();
    server = await startFaultyImap(stage.certificate);
    server.canIdle = true;
    server.messages = [{ uid: 1, subject: 'test', size: 100, header: ARRIVED }];
    stage.servers.imap = { host: 'localhost', port: server.port, tls: 'implicit' };
    tokens = await startTokens(stage.certificate);
  });
  after(async () => {
    tokens?.close();
    server?.close();
    await stage?.stop();
  });

  const test = async (id: string, token?: string) =>
    (await stage.call('POST', `/api/email/accounts/${id}/test`, undefined, token)).body;

  it('keeps an account, changes it and removes it', IF_OPENSSL, async () => {
    const made = await stage.account('keeper');
    const { id, credentialId, createdAt } = made.body;
    expect([made.status, made.body]).to.equal([
      201,
      {
        id,
        address: 'keeper@example.test',
        name: 'keeper@example.test',
        ...stage.servers,
        auth: 'password',
        username: 'keeper@example.test',
        credentialId,
        folders: ['INBOX'],
        watch: false,
        syncDays: 90,
        saveSent: false,
        authservId: null,
        status: 'ok',
        lastSyncAt: null,
        error: null,
        createdAt,
        updatedAt: createdAt,
      },
    ]);
    const path = `/api/email/accounts/${id}`;
    const changed = await stage.call('PATCH', path, { name: 'Keeper', folders: ['INBOX', 'Sent'] });
    expect(changed.body).to.include({ name: 'Keeper', folders: ['INBOX', 'Sent'] });
    expect((await stage.call('GET', path)).body).to.equal(changed.body);
    const again = await stage.account('keeper');
    expect([again.status, again.body.code]).to.equal([409, 'address_taken']);
    const inUse = await stage.call('DELETE', `/api/vault/${credentialId}`);
    expect(inUse.body.code).to.equal('credential_in_use');
    expect((await stage.call('DELETE', path)).status).to.equal(204);
    expect((await stage.call('GET', path)).status).to.equal(404);
    expect((await stage.call('DELETE', `/api/vault/${credentialId}`)).status).to.equal(204);
  });

  it('changes a part of a server, and the rest stays', IF_OPENSSL, async () => {
    const made = await stage.account('partly');
    const path = `/api/email/accounts/${made.body.id}`;
    const { port } = made.body.imap;
    const partly = await stage.call('PATCH', path, { imap: { tls: 'starttls' } });
    expect([partly.status, partly.body.imap, partly.body.smtp]).to.equal([
      ...[200, { host: 'localhost', port, tls: 'starttls' }, made.body.smtp],
    ]);
    const wrong = await stage.call('PATCH', path, { smtp: { port: 0 } });
    expect([wrong.status, wrong.body.details[0].path]).to.equal([400, 'smtp.port']);
  });

  it('are tested the whole way, and learn the name of their server', IF_OPENSSL, async () => {
    const { body } = await stage.account('whole');
    const tested = await test(body.id);
    expect(statesOf(tested.steps)).to.equal(WHOLE);
    expect(tested.account).to.include({ status: 'ok', authservId: 'mx.example.test' });
    const [sent] = stage.smtp.taken.slice(-1);
    expect([sent?.from, sent?.to]).to.equal(['whole@example.test', ['whole@example.test']]);
  });

  it('names the step that fails', IF_OPENSSL, async () => {
    const { body } = await stage.account('failing', { folders: ['INBOX', 'Nowhere'] });
    const missing = await test(body.id);
    expect(statesOf(missing.steps)).to.equal(['imap_login ok', 'imap_folders failed']);
    expect(missing.steps[1].detail).to.include(
      'folder not found: Nowhere. Correct the folders of the mail account',
    );
    await stage.call('PATCH', `/api/email/accounts/${body.id}`, { folders: ['INBOX'] });
    stage.smtp.recipient = () => {
      throw Object.assign(new Error('Mailbox full'), { responseCode: 552 });
    };
    const refused = await test(body.id);
    stage.smtp.recipient = () => undefined;
    expect(statesOf(refused.steps).slice(-2)).to.equal(['smtp_login ok', 'smtp_send failed']);
    expect(refused.steps.at(-1).detail).to.include('Mailbox full');
    expect(refused.ok).to.be.false();
  });

  it('says once that a login is needed, and that it works again', IF_OPENSSL, async () => {
    const { body } = await stage.account('locked');
    const { id } = body;
    server.isRight = false;
    const before = (await stage.notices('mail_needs_login')).length;
    const first = await test(id);
    expect(statesOf(first.steps)).to.equal(['imap_login failed']);
    expect(first.account.status).to.equal('needs_login');
    expect(first.account.error).to.include('localhost: rejected the login');
    await test(id);
    const notices = (await stage.notices('mail_needs_login')).slice(0, -before || undefined);
    expect(notices.map(({ title }) => title)).to.equal(['locked@example.test needs a new login']);
    const rotate = `Change the password: adjutant vault rotate ${body.credentialId.slice(-6)}. `;
    expect(notices[0]?.body).to.contain(rotate);
    server.isRight = true;
    const mended = await test(id);
    expect(mended.account).to.include({ status: 'ok', error: null });
  });

  it('keeps a refused login for sending while the one for reading works', IF_OPENSSL, async () => {
    const { id } = (await stage.account('unsent')).body;
    const count = (await stage.notices('mail_needs_login')).length;
    const findings = async () => {
      const { body } = await stage.call('GET', '/api/admin/doctor');
      const own = ({ detail }: { detail: string }) => detail.startsWith('unsent@example.test');
      return body.findings.filter(own);
    };
    stage.smtp.isRight = () => false;
    for (const _ of [1, 2]) {
      const tested = await test(id);
      expect(statesOf(tested.steps).slice(-2)).to.equal(['imap_idle ok', 'smtp_login failed']);
      expect(tested.account.status).to.equal('needs_login');
      expect(tested.account.error).to.match(/^SMTP: localhost: rejected the login/);
    }
    expect((await stage.notices('mail_needs_login')).length).to.equal(count + 1);
    const [found] = await findings();
    expect([found.name, found.status, found.remedy]).to.equal([
      ...['mailboxes', 'warn', 'adjutant email accounts test unsent@example.test'],
    ]);
    expect(found.detail).to.match(/^unsent@example.test needs a new login: SMTP: /);
    stage.smtp.isRight = () => true;
    expect((await test(id)).account).to.include({ status: 'ok', error: null });
    expect(await findings()).to.equal([]);
  });

  it('are not removed while a hook needs them, unless forced', IF_OPENSSL, async () => {
    const { id: accountId } = (await stage.account('bound')).body;
    const hook = async (name: string, more: object = {}) =>
      (
        await stage.call('POST', '/api/hooks', {
          ...{ name, trigger: 'email', triggerConfig: { accountId } },
          ...{ action: 'notify', actionConfig: { notifyMessage: '{{email.subject}}' }, ...more },
        })
      ).body.id;
    const path = `/api/email/accounts/${accountId}`;
    await hook('any', { triggerConfig: {} });
    await hook('off', { enabled: false });
    const id = await hook('offers');
    const refused = await stage.call('DELETE', path);
    expect([refused.status, refused.body.code, refused.body.message]).to.equal([
      ...[409, 'mail_account_used'],
      'The hook "offers" runs only for e-mails of bound@example.test. Delete or change it first, or pass force=true to delete the account anyway',
    ]);
    await stage.call('POST', `/api/hooks/${id}/disable`);
    expect((await stage.call('DELETE', path)).status).to.equal(204);
    const other = (await stage.account('bound2')).body.id;
    await stage.call('PUT', `/api/hooks/${id}`, { triggerConfig: { accountId: other } });
    await stage.call('POST', `/api/hooks/${id}/enable`);
    const again = `/api/email/accounts/${other}`;
    expect((await stage.call('DELETE', again)).status).to.equal(409);
    expect((await stage.call('DELETE', `${again}?force=true`)).status).to.equal(204);
  });

  it('sends no password without TLS, whatever the server offers', IF_OPENSSL, async () => {
    const plain = await startPlainImap();
    const smtp = await startSmtp({ certificate: stage.certificate, tls: 'none' });
    const { body } = await stage.account('plain', {
      imap: { host: 'localhost', port: plain.port, tls: 'starttls' },
    });
    const byImap = await test(body.id);
    expect(statesOf(byImap.steps)).to.equal(['imap_login failed']);
    expect(byImap.steps[0].detail).to.include(
      'does not support STARTTLS, and unencrypted connections are not allowed',
    );
    expect(plain.said.join(' ')).to.not.match(/LOGIN|AUTHENTICATE/i);
    await stage.call('PATCH', `/api/email/accounts/${body.id}`, {
      imap: stage.servers.imap,
      smtp: { host: 'localhost', port: smtp.port, tls: 'starttls' },
    });
    const bySmtp = await test(body.id);
    expect(statesOf(bySmtp.steps).at(-1)).to.equal('smtp_login failed');
    expect(smtp.logins).to.equal([]);
    plain.server.close();
    await smtp.close();
  });

  it('trusts no certificate of another name', IF_OPENSSL, async () => {
    const imap = { ...stage.servers.imap, host: '127.0.0.1' };
    const { body } = await stage.account('named', { imap });
    const { steps } = await test(body.id);
    expect(steps[0].detail).to.include('could not establish a trusted TLS connection');
  });

  it('refuses servers that the guard of outgoing traffic refuses', IF_OPENSSL, async () => {
    const imap = { host: '10.1.2.3', port: 993, tls: 'implicit' };
    const refused = await stage.account('private', { imap });
    expect([refused.status, refused.body.details[0].path]).to.equal([400, 'imap.host']);
    const metadata = { host: '169.254.169.254', port: 993, tls: 'implicit' };
    expect((await stage.account('private', { imap: metadata })).status).to.equal(400);
    // A name is resolved when it is dialled, and its addresses are checked then.
    const named = await stage.account('private', {
      imap: { host: 'nowhere.invalid', port: 993, tls: 'implicit' },
    });
    expect((await test(named.body.id)).steps[0].detail).to.include('does not resolve');
  });

  it('sends a credential to other servers for its owner alone', IF_OPENSSL, async () => {
    const scopes = ['email:write', 'email:read'];
    const { token: secret } = await makeToken(stage.app, stage.token, { scopes });
    const credentialId = await stage.credential();
    const body = { address: 'lent@example.test', credentialId, ...stage.servers };
    const by = (token?: string) => stage.call('POST', '/api/email/accounts', body, token);
    const delegated = await by(secret);
    expect([delegated.status, delegated.body.code]).to.equal([403, 'personal_only']);
    const hosts = [`localhost:${server.port}`, `localhost:${stage.smtp.port}`];
    await stage.call('PATCH', `/api/vault/${credentialId}`, { allowedHosts: hosts });
    expect((await by(secret)).status).to.equal(201);
  });

  it(
    'lets a user without the permission read, and send not even to themselves',
    IF_OPENSSL,
    async () => {
      const bob = await stage.app.register('bob');
      const { body } = await stage.account('bob', {}, bob.token);
      const count = stage.smtp.taken.length;
      const tested = await test(body.id, bob.token);
      expect(statesOf(tested.steps).slice(-3)).to.equal([
        ...['smtp_login ok', 'smtp_send skipped', 'arrival skipped'],
      ]);
      expect(stage.smtp.taken.length).to.equal(count);
      const path = `/api/admin/users/${bob.id}`;
      await stage.call('PATCH', path, { permissions: { email: true } });
      expect(statesOf((await test(body.id, bob.token)).steps)).to.equal(WHOLE);
    },
  );

  describe('by OAuth2', () => {
    const REFRESH = 'refresh-1';
    const grant = (over = {}) =>
      JSON.stringify({
        clientId: 'ours',
        clientSecret: 'secret',
        refreshToken: REFRESH,
        tokenEndpoint: tokens.endpoint,
        scope: 'mail',
        ...over,
      });
    const oauth = async (name: string) => {
      const credentialId = await stage.credential(grant());
      const { body } = await stage.account(name, { auth: 'oauth2', username: name, credentialId });
      return { id: body.id, credentialId };
    };
    const grantIn = async (id: string) => {
      const path = `/api/vault/${id}/reveal`;
      const { body } = await stage.call('POST', path, { password: 'correct horse battery' });
      return JSON.parse(body.value);
    };

    it('stores a rotated token before it is used', IF_OPENSSL, async () => {
      let count = 1;
      tokens.answer = ({ refresh_token }) => {
        if (refresh_token !== `refresh-${count}`) {
          return { status: 400, body: { error: 'invalid_grant' } };
        }
        const body = { access_token: tokens.issue('rita'), refresh_token: `refresh-${++count}` };
        return { body: { ...body, expires_in: 120 } };
      };
      const { id, credentialId } = await oauth('rita');
      for (const round of [2, 3, 4]) {
        expect(statesOf((await test(id)).steps)).to.equal(WHOLE);
        expect((await grantIn(credentialId)).refreshToken).to.equal(`refresh-${round}`);
        stage.clock.forward(121_000);
      }
      const versions = await stage.call('GET', `/api/vault/${credentialId}/versions`);
      expect(versions.body.versions.length > 1).to.be.true();
    });

    it('needs a login when the grant is good no more, and says so once', IF_OPENSSL, async () => {
      tokens.answer = () => ({
        status: 400,
        body: { error: 'invalid_grant', error_description: 'Token has been expired or revoked.' },
      });
      const { id } = await oauth('ivan');
      const count = (await stage.notices('mail_needs_login')).length;
      for (const _ of [1, 2]) {
        const tested = await test(id);
        expect(tested.account).to.include({ status: 'needs_login' });
        expect(tested.account.error).to.include('Token has been expired or revoked.');
      }
      expect((await stage.notices('mail_needs_login')).length).to.equal(count + 1);
      tokens.answer = () => ({ status: 503, body: {} });
      const { id: other } = await oauth('ida');
      expect((await test(other)).account.status).to.equal('failing');
    });

    it(
      'takes no credential that is no grant, and no plain token endpoint',
      IF_OPENSSL,
      async () => {
        for (const value of [MAILBOX, grant({ tokenEndpoint: 'http://localhost/token' }), '{}']) {
          const credentialId = await stage.credential(value);
          const { status, body } = await stage.account('odd', { auth: 'oauth2', credentialId });
          expect([status, body.details?.[0].path]).to.equal([400, 'credentialId']);
        }
      },
    );
  });
});

/** An IMAP server without TLS that takes down what it is told. */
const startPlainImap = async (): Promise<{ port: number; said: string[]; server: Server }> => {
  const said: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.write('* OK [CAPABILITY IMAP4rev1 LOGINDISABLED] ready\r\n');
    socket.on('data', (data) => {
      for (const line of data.toString().split('\r\n').filter(Boolean)) {
        said.push(line);
        const [tag = '', verb = ''] = line.split(' ');
        if (/^capability$/i.test(verb)) socket.write('* CAPABILITY IMAP4rev1\r\n');
        socket.write(`${tag} OK done\r\n`);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return { port: typeof address === 'object' && address ? address.port : 0, said, server };
};
