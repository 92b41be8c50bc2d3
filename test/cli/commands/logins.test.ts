import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { PASSWORD } from '../../harness/app.js';
import { openForSuite } from '../../harness/suite.js';
import { openWorld } from '../world.js';

export const lab = Lab.script();
const { describe, it, beforeEach } = lab;

describe('auth sessions', () => {
  const world = openForSuite(lab, openWorld);
  beforeEach(async () => {
    const { username } = await world.arrive();
    const body = { username, password: PASSWORD, device: 'phone' };
    await world.client.auth.login({ body });
  });

  it('are listed, and which one asks', async () => {
    const { code, stdout } = await world.cli([
      ...['auth', 'sessions', 'list', '--fields', 'device,state,address'],
    ]);
    expect([code, stdout]).to.equal([0, 'phone\topen\t127.0.0.1\n\tcurrent\t127.0.0.1\n']);
  });

  it('are ended by the name of their device, once that is confirmed', async () => {
    const end = ['auth', 'sessions', 'delete', 'phone'];
    expect((await world.cli(end)).stderr).to.contain('--yes');
    const { code, stderr } = await world.cli([...end, '--yes']);
    expect([code, stderr]).to.equal([0, 'Login session ended.\n']);
    expect((await world.client.logins.list()).sessions.length).to.equal(1);
    const again = await world.cli([...end, '--yes']);
    expect([again.code, again.stderr]).to.equal([
      1,
      'No login has the name or id "phone".\nList them: adjutant auth sessions list\n',
    ]);
  });

  it('that are not there say where to look', async () => {
    const id = 'login_01jcx2kq7m8f3k2a9v5ztw4e6r';
    const { stderr } = await world.cli(['auth', 'sessions', 'delete', id, '--yes']);
    expect(stderr).to.match(
      /^No login session with that id\.\nList them: adjutant auth sessions list\n/,
    );
  });
});
