import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startSmtp } from '../harness/mail/smtp.js';
import {
  IF_INSTALLED,
  type MailStage,
  missing,
  openMailStage,
  skipNote,
  statesOf,
  WHOLE,
} from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

describe(`mail accounts${skipNote}`, () => {
  let stage: MailStage;
  before(async () => {
    if (!missing) stage = await openMailStage();
  });
  after(() => stage?.stop());

  const test = async (id: string, token?: string) =>
    (await stage.call('POST', `/api/email/accounts/${id}/test`, undefined, token)).body;

  it(
    'goes the whole way, with a message to oneself, and learns who the server is',
    IF_INSTALLED,
    async () => {
      const { body } = await stage.account('whole');
      const tested = await test(body.id);
      expect(statesOf(tested.steps)).to.equal(WHOLE);
      expect(tested.ok).to.be.true();
      expect(tested.account).to.include({ status: 'ok', authservId: 'mx.example.test' });
      const [sent] = stage.smtp.taken.slice(-1);
      expect([sent?.from, sent?.to]).to.equal(['whole@example.test', ['whole@example.test']]);
    },
  );

  it('goes the same way by STARTTLS', IF_INSTALLED, async () => {
    const { certificate, dovecot } = stage;
    const smtp = await startSmtp({ certificate, tls: 'starttls' });
    smtp.arrived = stage.smtp.arrived;
    const { body } = await stage.account('upgrade', {
      imap: { host: 'localhost', port: dovecot.ports.starttls, tls: 'starttls' },
      smtp: { host: 'localhost', port: smtp.port, tls: 'starttls' },
    });
    expect(statesOf((await test(body.id)).steps)).to.equal(WHOLE);
    await smtp.close();
  });

  it('has all servers of a provider, and of none that nobody knows', IF_INSTALLED, async () => {
    const found = await stage.call('POST', '/api/email/servers', { address: 'ada@gmail.com' });
    expect(found.body).to.include({ source: 'preset', name: 'Gmail', username: 'ada@gmail.com' });
    const none = await stage.call('POST', '/api/email/servers', { address: 'ada@nowhere.invalid' });
    expect([none.status, none.body.code]).to.equal([404, 'no_servers']);
    const credentialId = await stage.credential();
    const body = { address: 'ada@nowhere.invalid', credentialId };
    const refused = await stage.call('POST', '/api/email/accounts', body);
    expect([refused.status, refused.body.details[0].path]).to.equal([400, 'imap']);
  });

  describe('by OAuth2', () => {
    const REFRESH = 'refresh-1';
    const grant = (over = {}) =>
      JSON.stringify({
        clientId: 'ours',
        clientSecret: 'secret',
        refreshToken: REFRESH,
        tokenEndpoint: stage.tokens.endpoint,
        scope: 'mail',
        ...over,
      });
    const oauth = async (name: string) => {
      const credentialId = await stage.credential(grant());
      const { body } = await stage.account(name, { auth: 'oauth2', username: name, credentialId });
      return { id: body.id, credentialId };
    };
    it('asks for a token once while it is good', IF_INSTALLED, async () => {
      const { tokens, clock } = stage;
      tokens.answer = () => ({ body: { access_token: tokens.issue('mona'), expires_in: 3600 } });
      const { id } = await oauth('mona');
      tokens.requests.length = 0;
      expect(statesOf((await test(id)).steps)).to.equal(WHOLE);
      expect(stage.smtp.logins.at(-1)).to.equal({ user: 'mona', accessToken: 'access-1' });
      await test(id);
      expect(tokens.requests).to.equal([
        {
          grant_type: 'refresh_token',
          refresh_token: REFRESH,
          client_id: 'ours',
          client_secret: 'secret',
          scope: 'mail',
        },
      ]);
      clock.forward(3600_000);
      await test(id);
      expect(tokens.requests.length).to.equal(2);
      // A token that was ended early is asked for anew, once.
      tokens.revoke('access-2');
      expect(statesOf((await test(id)).steps)).to.equal(WHOLE);
      expect(tokens.requests.length).to.equal(3);
    });
  });
});
