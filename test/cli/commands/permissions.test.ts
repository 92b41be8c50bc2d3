import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { saveSession } from '../../../src/client/session.js';
import { PASSWORD } from '../../harness/app.js';
import { openForSuite } from '../../harness/suite.js';
import { makeToken } from '../../harness/token.js';
import { openWorld } from '../world.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('skills permissions', () => {
  const world = openForSuite(lab, openWorld);

  const shown = (...words: string[]) => world.cli(['skills', 'permissions', ...words]);

  it('sets, lists and resets', async () => {
    const { code } = await shown('set', 'http.request', 'allow', '--reason', 'Mine');
    await shown('set', 'shell.*', 'deny');
    const { stdout } = await shown('list', '--fields', 'tool,level,reason');
    expect([code, stdout]).to.equal([0, 'shell.*\tdeny\t\nhttp.request\tallow\tMine\n']);
    expect((await shown('reset', 'shell.*')).code).to.equal(0);
    expect((await shown('reset', 'shell.*')).code).to.equal(1);
    expect((await shown('list', '--output', 'json')).stdout).to.contain('"action":"request"');
  });

  it('names what is wrong', async () => {
    expect((await shown('set', 'http', 'allow')).stderr).to.contain('"http" is not a tool name');
    const { code, stderr } = await shown('set', 'http.request', 'maybe');
    expect([code, stderr]).to.match(/2,.*level +must be one of \[allow, ask, deny\]/s);
    expect((await shown('set', 'nope.request', 'allow')).stderr).to.contain('is not a known skill');
  });

  it('says what right is missing, and what to do', async () => {
    const { app } = world;
    const session = await app.call('POST', '/api/auth/login', {
      body: { username: 'ada', password: PASSWORD },
    });
    const { token } = await makeToken(app, session.body.token);
    saveSession(app.url, { token, username: 'ada', expiresAt: '2126-01-01T00:00:00.000Z' });
    const { code, stderr } = await shown('set', 'shell.run', 'allow');
    expect([code, stderr.split('\n')[0]]).to.equal([
      1,
      'This token may not grant shell.run. Log in, or use a token with the scope approvals:write.',
    ]);
  });
});
