import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { openForSuite } from '../../harness/suite.js';
import { start } from '../harness.js';
import { openWorld } from '../world.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('adjutant logs --remote', () => {
  const world = openForSuite(lab, openWorld);
  const say = (message: string) =>
    world.app.recent.write(`{"level":"warn","at":"2026-03-01T12:00:00.000Z","msg":"${message}"}`);

  it('shows the newest lines of the daemon that is asked', async () => {
    say('first');
    say('second');
    const { code, stdout } = await world.cli(['logs', '--remote', '--last', '1']);
    expect({ code, line: JSON.parse(stdout) }).to.equal({
      code: 0,
      line: { level: 'warn', at: '2026-03-01T12:00:00.000Z', msg: 'second' },
    });
  });

  it('goes on with every new one until ^C', async () => {
    say('before');
    const cli = start(['logs', '--remote', '-f', '--last', '1', '--server', world.app.url]);
    expect(JSON.parse(await cli.line()).msg).to.equal('before');
    say('after');
    const messages: string[] = [];
    while (messages.at(-1) !== 'after') messages.push(JSON.parse(await cli.line()).msg);
    cli.interrupt();
    expect(await cli.ended).to.equal(130);
  });

  it('says who may where one may not', async () => {
    const bob = await world.app.register('bob');
    const { code, stderr } = await world.cli(['logs', '--remote', '--server-token', bob.token]);
    expect(code).to.equal(1);
    expect(stderr).to.not.contain('at Object');
  });
});
