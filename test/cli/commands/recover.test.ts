import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { PASSWORD } from '../../harness/app.js';
import { adjutant, type Surroundings } from '../harness.js';
import { openWorld, type World } from '../world.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const NEXT = 'another good password';

describe('recover', () => {
  let world: World;
  beforeEach(async () => {
    world = await openWorld();
  });
  afterEach(() => world.stop());

  const recover = (words: string[], surroundings: Surroundings = { stdin: `${NEXT}\n` }) =>
    adjutant(['recover', ...words, '--home', world.app.home], surroundings);
  const login = async (username: string, password: string): Promise<number> => {
    const body = { username, password };
    return (await world.app.call('POST', '/api/auth/login', { body })).status;
  };
  const withFile = ['--password-file', '-'];

  it('sets a password, ends sessions and tokens, and keeps all else', async () => {
    const { token } = await world.app.register('bob');
    const made = await world.app.call('POST', '/api/auth/tokens', { token, body: { name: 'ci' } });
    const hook = { name: 'h', trigger: 'webhook', triggerConfig: { webhookPath: 'h' } };
    const action = { action: 'notify', actionConfig: { notifyMessage: 'Hi' } };
    await world.app.call('POST', '/api/hooks', { token, body: { ...hook, ...action } });
    await world.app.app.close();
    const { code, stdout, stderr } = await recover(['BOB', ...withFile]);
    expect([code, stdout, stderr]).to.equal([
      0,
      '',
      'The password of bob is set; its sessions and tokens have ended.\n' +
        'Next: adjutant up, adjutant login\n',
    ]);
    await world.app.restart();
    for (const old of [token, made.body.token]) {
      expect((await world.app.call('GET', '/api/auth/me', { token: old })).status).to.equal(401);
    }
    expect([await login('bob', PASSWORD), await login('bob', NEXT)]).to.equal([401, 200]);
    expect(await login('ada', PASSWORD)).to.equal(200);
    const hooks = await world.app.app.store.db.selectFrom('hooks').select('name').execute();
    expect(hooks).to.equal([{ name: 'h' }]);
  });

  it('stands in the audit log, whose chain goes on', async () => {
    const { id } = await world.client.auth.me();
    await world.app.app.close();
    await recover(['ada', ...withFile]);
    await world.app.restart();
    const body = { username: 'ada', password: NEXT };
    const { token } = (await world.app.call('POST', '/api/auth/login', { body })).body;
    const log = await world.app.call('GET', '/api/admin/audit?action=users.recover', { token });
    const [{ actorId, target, outcome, data }] = log.body.entries;
    expect([actorId, target, outcome, data]).to.equal([
      'operator',
      id,
      'ok',
      { wasDisabled: false },
    ]);
    const verdict = await world.app.call('GET', '/api/admin/audit/verify', { token });
    expect([verdict.body.ok, log.text.includes(NEXT)]).to.equal([true, false]);
  });

  it('lets a disabled user in again, and one who waits for nothing', async () => {
    const bob = await world.app.register('bob');
    for (let n = 0; n < 7; n++) await login('bob', 'wrong password');
    await world.client.users.update({ id: bob.id, body: { disabled: true } });
    await world.app.app.close();
    const { stderr } = await recover(['bob', ...withFile]);
    expect(stderr).to.contain('The account was disabled, and is not any more.');
    await world.app.restart();
    expect(await login('bob', NEXT)).to.equal(200);
  });

  it('refuses while a daemon runs, and says what to do', async () => {
    const { code, stderr } = await recover(['ada', ...withFile]);
    expect([code, stderr]).to.equal([
      1,
      `Not recovered: Another Adjutant already runs on ${world.app.home}.\n` +
        `Stop it first: adjutant down --home ${world.app.home}\n`,
    ]);
    expect(await login('ada', PASSWORD)).to.equal(200);
  });

  it('makes nothing where there is nothing', async () => {
    const home = join(world.app.home, 'elsewhere');
    const { code, stderr } = await adjutant(['recover', 'ada', '--home', home, ...withFile], {
      stdin: NEXT,
    });
    expect([code, stderr]).to.equal([1, `Not recovered: There is no database in ${home}.\n`]);
    expect(existsSync(home)).to.be.false();
  });

  it('changes nothing for who is not there, or a short password', async () => {
    await world.app.app.close();
    const nobody = await recover(['zoe', ...withFile]);
    expect([nobody.code, nobody.stderr]).to.equal([
      1,
      'Not recovered: Nobody is called "zoe" here.\n',
    ]);
    expect((await recover(['ada', ...withFile], { stdin: 'short' })).code).to.equal(2);
    expect((await recover(['ada'], {})).stderr).to.contain('Add --password-file.');
    await world.app.restart();
    expect(await login('ada', PASSWORD)).to.equal(200);
  });

  it('asks for the password twice at a terminal', async () => {
    await world.app.app.close();
    const differ = await recover(['ada'], { terminal: 80, answers: [NEXT, PASSWORD] });
    expect(differ.stderr).to.contain('The two passwords differ. Nothing was done.');
    const right = await recover(['ada'], { terminal: 80, answers: [NEXT, NEXT] });
    expect(right.code).to.equal(0);
    expect(right.stderr).to.not.contain(NEXT);
    await world.app.restart();
    expect(await login('ada', NEXT)).to.equal(200);
  });
});
