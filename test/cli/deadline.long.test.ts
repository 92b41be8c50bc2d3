import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { Agent } from '../../src/client/index.js';
import { call } from '../agents/stage.js';
import { until } from '../harness/app.js';
import { hangs, says } from '../harness/openai.js';
import { openForSuite } from '../harness/suite.js';
import { listen } from '../kernel/listen.js';
import { adjutant } from './harness.js';
import { openModelWorld } from './world.js';

export const lab = Lab.script();
const { describe, it, before } = lab;

const POST = { method: 'POST', url: 'http://127.0.0.1:9/', body: 'x' };
const LATE = 'Not finished within 0.5 s, the limit of --timeout.\n';
const LIMIT = ['--timeout', '0.5'];
/** Long enough for a busy machine to have sent the request of which more is said. */
const LATER = 'Not finished within 2 s, the limit of --timeout.\n';
const LONGER = ['--timeout', '2'];

/** Every command that waits for something which does not come. */
const WAITS = [
  'agents wait asker',
  'agents wait paused',
  'agents tail asker',
  'agents tail asker --until-done',
  'agents events asker --after 1000 --wait 25',
  'approvals watch',
  'chat Think',
  'hooks list --watch',
  'hooks listen',
  'logs --remote -f --last 0',
  'notifications watch',
  'status --watch',
];

describe('--timeout', () => {
  const world = openForSuite(lab, openModelWorld);
  before(async () => {
    const asks = says({ toolCalls: [call('http_request', POST)] });
    world.model.script(asks, asks, asks);
    await world.client.agents.spawn({ body: { prompt: 'Post it', name: 'asker' } });
    await reached('asker', 'waiting_approval');
    const { id } = await world.client.agents.spawn({ body: { prompt: 'Post', name: 'paused' } });
    await reached('paused', 'waiting_approval');
    await world.client.agents.pause({ id });
    await reached('paused', 'paused');
  });

  const reached = (name: string, status: Agent['status']): Promise<Agent | undefined> =>
    until(
      async () => (await world.client.agents.list()).agents.find((each) => each.name === name),
      (agent) => agent?.status === status,
    );

  for (const line of WAITS) {
    it(`ends with 124: ${line}`, async () => {
      const { code, stderr } = await world.cli([...line.split(' '), ...LIMIT]);
      expect([code, stderr.includes(LATE)]).to.equal([124, true]);
    });
  }

  it('says that the agent goes on', async () => {
    const { agents } = await world.client.agents.list();
    const id = agents.find(({ name }) => name === 'asker')?.id ?? '';
    expect(await world.cli(['agents', 'wait', 'asker', '--quiet', ...LONGER])).to.equal({
      code: 124,
      stdout: '',
      stderr: `${LATER}The agent continues to run. Follow it: adjutant agents tail ${id.slice(-6)}\n`,
    });
    expect((await world.client.agents.get({ id })).status).to.equal('waiting_approval');
  });

  it('ends --until-waiting too, where the agent neither ends nor waits', async () => {
    const own = await openModelWorld();
    own.model.script(hangs);
    await own.client.agents.spawn({ body: { prompt: 'Think', name: 'thinker' } });
    const words = ['agents', 'wait', 'thinker', '--until-waiting'];
    const { code } = await own.cli([...words, ...LIMIT]);
    await own.stop();
    expect(code).to.equal(124);
  });

  it('is not reached where --until-waiting finds one that waits', async () => {
    const fields = ['--fields', 'name,status'];
    const wait = (name: string) =>
      world.cli(['agents', 'wait', name, '--until-waiting', ...fields, '--timeout', '20']);
    expect(await wait('asker')).to.equal({
      code: 0,
      stdout: 'asker\twaiting_approval\n',
      stderr: '',
    });
    expect((await wait('paused')).stdout).to.equal('paused\tpaused\n');
  });

  it('ends a request that is not answered, and warns that it may have been done', async () => {
    const silent = await listen(() => {});
    const words = ['api', 'POST', '/api/agents', '--data', '{}', '--server', silent.origin];
    expect(await adjutant([...words, ...LONGER])).to.equal({
      code: 124,
      stdout: '',
      stderr: `${LATER}The action may have completed. Check before you repeat the command.\n`,
    });
    const asked = await adjutant([...words, ...LIMIT, '--json']);
    expect(JSON.parse(asked.stderr)).to.equal({
      statusCode: 0,
      error: 'Failed',
      message: LATE.trimEnd(),
    });
    await silent.close();
  });

  it('is as long as a timer can be, and no longer', async () => {
    expect((await world.cli(['whoami', '--timeout=2147483'])).code).to.equal(0);
    for (const given of ['2147484', '3000000', '1e300', 'Infinity']) {
      expect(await world.cli(['whoami', `--timeout=${given}`])).to.equal({
        code: 2,
        stdout: '',
        stderr: '--timeout must be at most 2147483 seconds (24 days)\n',
      });
    }
  });

  it('is a number above 0', async () => {
    for (const given of ['soon', '0', '-1', '', 'NaN']) {
      expect(await world.cli(['whoami', `--timeout=${given}`])).to.equal({
        code: 2,
        stdout: '',
        stderr: '--timeout must be a number of seconds above 0\n',
      });
    }
  });
});
