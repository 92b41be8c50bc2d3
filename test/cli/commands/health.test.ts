import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Listening, listen } from '../../kernel/listen.js';
import { adjutant } from '../harness.js';
import { openWorld, type World } from '../world.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('health', () => {
  let world: World;
  let failing: Listening;
  before(async () => {
    world = await openWorld();
    failing = await listen((_request, response) => {
      response.writeHead(503, { 'content-type': 'application/json' });
      response.end('{"status":"not_ready","failing":["database","queue"]}');
    });
  });
  after(async () => {
    await failing.close();
    await world.stop();
  });

  it('says that the daemon answers, and for how long', async () => {
    const { code, stdout } = await world.cli(['health'], { terminal: 80 });
    expect([code, /^ok, version \S+, up [\d.]+ m?s\n$/.test(stdout)]).to.equal([0, true]);
    expect(JSON.parse((await world.cli(['health', '--json'])).stdout).status).to.equal('ok');
  });

  it('shows every part', async () => {
    const { code, stdout } = await world.cli(['health', 'detailed', '--fields', 'name,status']);
    expect([code, stdout.split('\n').includes('database\tok')]).to.equal([0, true]);
  });

  it('shows whether it is ready, live, and its figures', async () => {
    expect((await world.cli(['health', 'ready'], { terminal: 80 })).stdout).to.equal('ready\n');
    expect((await world.cli(['health', 'live'])).stdout).to.equal('live\n');
    expect((await world.cli(['health', 'metrics'])).stdout).to.match(/^# HELP /m);
  });

  it('ends with 1 where it is not ready, and names what fails', async () => {
    const ready = (...words: string[]) =>
      adjutant(['health', 'ready', '--server', failing.origin, ...words]);
    expect(await ready()).to.equal({
      code: 1,
      stdout: 'not_ready\tdatabase,queue\n',
      stderr: '',
    });
    expect(JSON.parse((await ready('--json')).stdout)).to.equal({
      status: 'not_ready',
      failing: ['database', 'queue'],
    });
  });

  it('refuses a part that is not there', async () => {
    const { code, stderr } = await world.cli(['health', 'heart']);
    expect([code, stderr]).to.equal([
      2,
      'Unknown part "heart". Parts: detailed, ready, live, metrics\n',
    ]);
  });
});
