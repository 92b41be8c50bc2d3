import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { generate } from 'otplib';
import { PASSWORD } from '../../harness/app.js';
import { seedPasskey } from '../../harness/passkey.js';
import { openForSuite } from '../../harness/suite.js';
import { adjutant, type Surroundings } from '../harness.js';
import { openWorld } from '../world.js';

export const lab = Lab.script();
const { describe, it, beforeEach } = lab;

const NEXT = 'another good password';

describe('recover', () => {
  const world = openForSuite(lab, openWorld);
  let bob: { id: string; name: string; token: string };
  let count = 0;
  beforeEach(async () => {
    const name = `bob-${++count}`;
    bob = { name, ...(await world.app.register(name)) };
  });

  /** Starts the daemon that a case has stopped, at the address of its logins. */
  const restart = () => world.app.restart({ port: Number(new URL(world.app.url).port) });

  const recover = (words: string[], surroundings: Surroundings = { stdin: `${NEXT}\n` }) =>
    adjutant(['recover', ...words, '--home', world.app.home], surroundings);
  const login = async (username: string, password: string): Promise<number> => {
    const body = { username, password };
    return (await world.app.call('POST', '/api/auth/login', { body })).status;
  };
  const withFile = ['--password-file', '-'];

  it('sets a password, ends sessions and tokens, and keeps all else', async () => {
    const { name, token } = bob;
    const made = await world.app.call('POST', '/api/auth/tokens', { token, body: { name: 'ci' } });
    const hook = { name: 'h', trigger: 'webhook', triggerConfig: { webhookPath: 'h' } };
    const action = { action: 'notify', actionConfig: { notifyMessage: 'Hi' } };
    await world.app.call('POST', '/api/hooks', { token, body: { ...hook, ...action } });
    await world.app.app.close();
    const { code, stdout, stderr } = await recover([name.toUpperCase(), ...withFile]);
    expect([code, stdout, stderr]).to.equal([
      0,
      '',
      `The password of ${name} is set. Its login sessions and tokens have ended.\n` +
        `Next: adjutant up --home ${world.app.home}, adjutant login\n`,
    ]);
    await restart();
    for (const old of [token, made.body.token]) {
      expect((await world.app.call('GET', '/api/auth/me', { token: old })).status).to.equal(401);
    }
    expect([await login(name, PASSWORD), await login(name, NEXT)]).to.equal([401, 200]);
    expect(await login('ada', PASSWORD)).to.equal(200);
    const hooks = await world.app.app.store.db
      .selectFrom('hooks')
      .select('name')
      .where('user_id', '=', bob.id)
      .execute();
    expect(hooks).to.equal([{ name: 'h' }]);
  });

  it('stands in the audit log, whose chain goes on', async () => {
    await world.app.app.close();
    await recover([bob.name, ...withFile]);
    await restart();
    const body = { username: 'ada', password: PASSWORD };
    const { token } = (await world.app.call('POST', '/api/auth/login', { body })).body;
    const log = await world.app.call('GET', '/api/admin/audit?action=users.recover', { token });
    const [{ actorId, target, outcome, data }] = log.body.entries;
    expect([actorId, target, outcome, data]).to.equal([
      'operator',
      bob.id,
      'ok',
      { wasDisabled: false },
    ]);
    const verdict = await world.app.call('GET', '/api/admin/audit/verify', { token });
    expect([verdict.body.ok, log.text.includes(NEXT)]).to.equal([true, false]);
  });

  it('lets a disabled user in again, and one who waits for nothing', async () => {
    for (let n = 0; n < 7; n++) await login(bob.name, 'wrong password');
    await world.client.users.update({ id: bob.id, body: { disabled: true } });
    await world.app.app.close();
    const { stderr } = await recover([bob.name, ...withFile]);
    expect(stderr).to.contain('The account was disabled and is now enabled.');
    await restart();
    expect(await login(bob.name, NEXT)).to.equal(200);
  });

  it('refuses while a daemon runs, and says what to do', async () => {
    const { code, stderr } = await recover(['ada', ...withFile]);
    expect([code, stderr]).to.equal([
      1,
      `Not recovered: Another Adjutant already uses the home folder ${world.app.home}.\n` +
        `Stop it first: adjutant down --home ${world.app.home}\n`,
    ]);
    expect(await login('ada', PASSWORD)).to.equal(200);
  });

  it('makes nothing where there is nothing', async () => {
    const home = join(world.app.home, 'elsewhere');
    const { code, stderr } = await adjutant(['recover', 'ada', '--home', home, ...withFile], {
      stdin: NEXT,
    });
    expect([code, stderr]).to.equal([
      1,
      `Not recovered: There is no database in ${home}. Pass the data folder with --home.\n`,
    ]);
    expect(existsSync(home)).to.be.false();
  });

  it('changes nothing for who is not there, or a short password', async () => {
    await world.app.app.close();
    const nobody = await recover(['zoe', ...withFile]);
    expect([nobody.code, nobody.stderr]).to.equal([
      1,
      'Not recovered: There is no user account with the name "zoe". Check the spelling.\n',
    ]);
    expect((await recover(['ada', ...withFile], { stdin: 'short' })).code).to.equal(2);
    expect((await recover(['ada'], {})).stderr).to.contain('Add --password-file.');
    await restart();
    expect(await login('ada', PASSWORD)).to.equal(200);
  });

  /** Bob with an authenticator app and two passkeys; their ids. */
  const withFactors = async () => {
    const { id, token } = bob;
    const { body } = await world.app.call('POST', '/api/auth/totp/setup', { token, body: {} });
    const code = await generate({ secret: body.secret });
    await world.app.call('POST', '/api/auth/totp/enable', { token, body: { code } });
    const { db } = world.app.app.store;
    const phone = await seedPasskey(world.app, id, 'Phone');
    const row = await db
      .selectFrom('passkeys')
      .selectAll()
      .where('id', '=', phone)
      .executeTakeFirstOrThrow();
    const other = { ...row, id: `passkey_${bob.name}`, credential_id: bob.name, name: 'Intruder' };
    await db.insertInto('passkeys').values(other).execute();
    await world.app.app.close();
    return { phone, other: other.id };
  };
  const left = async () => {
    await restart();
    const { db } = world.app.app.store;
    const passkeys = await db
      .selectFrom('passkeys')
      .select('name')
      .where('user_id', '=', bob.id)
      .orderBy('name')
      .execute();
    return { login: await login(bob.name, NEXT), passkeys: passkeys.map(({ name }) => name) };
  };

  it('keeps second factors and passkeys unless they are named', async () => {
    await withFactors();
    const { code, stderr } = await recover([bob.name, ...withFile]);
    expect([code, stderr]).to.equal([
      0,
      `The password of ${bob.name} is set. Its login sessions and tokens have ended.\n` +
        'Logins still need a code of the authenticator app.\n' +
        `Passkeys that remain: 2.\nNext: adjutant up --home ${world.app.home}, adjutant login\n`,
    ]);
    expect(await left()).to.equal({ login: 401, passkeys: ['Intruder', 'Phone'] });
  });

  it('removes those that flags name, and they stand in the audit log', async () => {
    const { other } = await withFactors();
    const wrong = await recover([bob.name, ...withFile, '--remove-passkeys', 'Tablet']);
    expect([wrong.code, wrong.stderr]).to.equal([
      2,
      'No passkey is named "Tablet". Passkeys: Phone, Intruder\n',
    ]);
    const words = [bob.name, ...withFile, '--remove-totp', '--remove-passkeys', 'Intruder'];
    const { code, stderr } = await recover(words);
    expect([code, stderr]).to.equal([
      0,
      `The password of ${bob.name} is set. Its login sessions and tokens have ended.\n` +
        'The authenticator app was removed. Logins need no code.\n' +
        'Passkeys removed: 1.\nPasskeys that remain: 1.\n' +
        `Next: adjutant up --home ${world.app.home}, adjutant login\n`,
    ]);
    expect(await left()).to.equal({ login: 200, passkeys: ['Phone'] });
    const rows = await world.app.app.store.db
      .selectFrom('audit')
      .select('data')
      .where('action', '=', 'users.recover')
      .where('target', '=', bob.id)
      .execute();
    expect(rows.map(({ data }) => JSON.parse(data ?? ''))).to.equal([
      { wasDisabled: false, removed: { totp: true, passkeys: [other] } },
    ]);
  });

  it('asks for each of them at a terminal', async () => {
    await withFactors();
    const answers = [NEXT, NEXT, 'y', '', 'y'];
    const { code, stderr } = await recover([bob.name], { terminal: 80, answers });
    expect(code).to.equal(0);
    expect(stderr.match(/Remove [^?]*\?/g)).to.equal([
      'Remove the authenticator app?',
      'Remove the passkey "Phone" (localhost, added 2026-03-01)?',
      'Remove the passkey "Intruder" (localhost, added 2026-03-01)?',
    ]);
    expect(await left()).to.equal({ login: 200, passkeys: ['Phone'] });
  });

  it('refuses a password that is easily guessed', async () => {
    await world.app.app.close();
    const { code, stderr } = await recover(['ada', ...withFile], { stdin: 'iloveyou1' });
    expect([code, stderr]).to.equal([
      1,
      'Not recovered: The password is one of the 10,000 most common passwords.\n',
    ]);
    await restart();
  });

  it('asks for the password twice at a terminal', async () => {
    await world.app.app.close();
    const differ = await recover([bob.name], { terminal: 80, answers: [NEXT, PASSWORD] });
    expect(differ.stderr).to.contain('The two passwords differ. Nothing was changed.');
    const right = await recover([bob.name], { terminal: 80, answers: [NEXT, NEXT] });
    expect(right.code).to.equal(0);
    expect(right.stderr).to.not.contain(NEXT);
    await restart();
    expect(await login(bob.name, NEXT)).to.equal(200);
  });
});
