import dns from 'node:dns/promises';
import { syncBuiltinESMExports } from 'node:module';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { saveSession } from '../../../src/client/session.js';
import {
  IF_INSTALLED,
  type MailStage,
  missing,
  openMailStage,
  skipNote,
} from '../../email/stage.js';
import { MAILBOX } from '../../harness/mail/dovecot.js';
import { openConfig } from '../config.js';
import { adjutant } from '../harness.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

/** Has no name resolve but that of this machine, so that nobody is asked for servers. */
const resolveNothing = (): (() => void) => {
  const { lookup } = dns;
  const replace = (by: object): void => {
    Object.assign(dns, { lookup: by });
    syncBuiltinESMExports();
  };
  replace(async (name: string, options: object) => {
    if (name === 'localhost') return lookup(name, options);
    throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' });
  });
  return () => replace(lookup);
};

describe(`adjutant email setup${skipNote}`, () => {
  let stage: MailStage;
  let config: Awaited<ReturnType<typeof openConfig>>;
  let resolveAgain: () => void;

  before(async () => {
    if (missing) return;
    resolveAgain = resolveNothing();
    stage = await openMailStage();
    config = await openConfig();
    const expiresAt = '2126-01-01T00:00:00.000Z';
    saveSession(stage.app.url, { token: stage.token, username: 'ada', expiresAt });
  });
  after(async () => {
    await config?.close();
    await stage?.stop();
    resolveAgain?.();
  });

  it('adds a mailbox by what is answered, and tries it the whole way', IF_INSTALLED, async () => {
    const hosts = [stage.dovecot.ports.implicit, stage.smtp.port].map(
      (port) => `localhost:${port}`,
    );
    const { code, stderr } = await adjutant(['email', 'setup', '--server', stage.app.url], {
      terminal: 100,
      answers: ['ada@nowhere.invalid', ...hosts, MAILBOX],
    });
    expect(code, stderr).to.equal(0);
    expect(stderr).to.contain('The servers for this address are unknown.');
    const { accounts } = (await stage.call('GET', '/api/email/accounts')).body;
    expect(accounts.length).to.equal(1);
    const [{ address, status, credentialId }] = accounts;
    expect([address, status]).to.equal(['ada@nowhere.invalid', 'ok']);
    const credential = (await stage.call('GET', `/api/vault/${credentialId}`)).body;
    expect([credential.type, credential.allowedHosts]).to.equal(['password', hosts]);
    expect(stage.smtp.taken.map(({ to }) => to)).to.equal([['ada@nowhere.invalid']]);
    expect(stderr).to.not.contain(MAILBOX);
  });

  it('uses one server of a flag beside one that is known', IF_INSTALLED, async () => {
    const port = stage.dovecot.ports.implicit;
    const words = ['email', 'setup', 'ada@gmail.com', '--imap', `localhost:${port}`];
    const { stderr } = await adjutant([...words, '--server', stage.app.url], {
      terminal: 100,
      answers: [MAILBOX],
    });
    expect(stderr).to.contain('Gmail: localhost for reading, smtp.gmail.com for sending.');
    const { accounts } = (await stage.call('GET', '/api/email/accounts')).body;
    const made = accounts.find(({ address }: { address: string }) => address === 'ada@gmail.com');
    expect([made.imap, made.smtp.host]).to.equal([
      { host: 'localhost', port, tls: 'implicit' },
      'smtp.gmail.com',
    ]);
  });
});
