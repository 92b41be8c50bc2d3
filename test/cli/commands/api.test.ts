import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { openForSuite } from '../../harness/suite.js';
import { openWorld } from '../world.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('api', () => {
  const world = openForSuite(lab, openWorld);

  it('asks for anything with one’s login', async () => {
    const { code, stdout } = await world.cli(['api', 'get', '/api/auth/me']);
    expect([code, JSON.parse(stdout).username]).to.equal([0, 'ada']);
    expect((await world.cli(['api', 'GET', '/metrics'])).stdout).to.match(/^# HELP /m);
  });

  it('sends JSON as it stands, from a file and from stdin', async () => {
    const body = '{"prompt":"Say hello","name":"greeter"}';
    const file = await world.file('agent.json', body);
    const spawn = (data: string) => ['api', 'POST', '/api/agents', '--data', data];
    const replies = [
      await world.cli(spawn(body)),
      await world.cli(spawn(`@${file}`)),
      await world.cli(spawn('-'), { stdin: body }),
    ];
    expect(replies.map(({ stdout }) => JSON.parse(stdout).name)).to.equal(Array(3).fill('greeter'));
  });

  it('fails as the API does', async () => {
    const { code, stderr } = await world.cli(['api', 'GET', '/api/nothing', '--json']);
    expect([code, JSON.parse(stderr).statusCode]).to.equal([1, 404]);
  });

  it('refuses what is no method or no path', async () => {
    expect((await world.cli(['api', 'FETCH', '/'])).code).to.equal(2);
    expect((await world.cli(['api', 'GET', 'api/hooks'])).stderr).to.equal(
      'Path must begin with a slash, like /api/hooks\n',
    );
    expect((await world.cli(['api', 'POST', '/api/agents', '--data', '@/nowhere'])).code).to.equal(
      2,
    );
  });
});
