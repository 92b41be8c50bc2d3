import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { untilMatches } from '../../harness/app.js';
import { openForSuite } from '../../harness/suite.js';
import { start } from '../harness.js';
import { openWorld } from '../world.js';

export const lab = Lab.script();
const { describe, it, beforeEach } = lab;

const lines = (text: string): string[] => text.trimEnd().split('\n');
const statuses = (text: string): string[] =>
  lines(text).map((line) => line.replace(/^(\d+)\t[^\t]+\t([^\t]+)\t/, '$1 $2 '));

describe('agents', () => {
  const world = openForSuite(lab, openWorld);
  beforeEach(() => world.arrive());

  /** An agent that has ended. */
  const spawned = async (...words: string[]): Promise<string> => {
    const { stdout } = await world.cli([
      'agents',
      'spawn',
      'Say hello',
      ...words,
      '--output',
      'id',
    ]);
    const id = stdout.trim();
    await untilMatches(() => world.client.agents.get({ id }), { status: 'completed' });
    return id;
  };
  const shown = (...words: string[]) => world.cli(['agents', ...words]);

  it('spawns from an argument, from stdin and from data', async () => {
    await spawned('--name', 'one', '--max-steps', '3');
    await world.cli(['agents', 'spawn', '-', '--name', 'two'], { stdin: 'From stdin' });
    await shown('create', '--data', '{"prompt":"From data","name":"x"}', '--name', 'three');
    const { agents } = await world.client.agents.list();
    expect(agents.map(({ name, prompt }) => [name, prompt])).to.equal([
      ['three', 'From data'],
      ['two', 'From stdin'],
      ['one', 'Say hello'],
    ]);
    expect(agents[2]?.limits.maxSteps).to.equal(3);
  });

  it('spawns from the flag of the prompt, and refuses both forms at once', async () => {
    const { code, stderr } = await shown('spawn', '--prompt', 'From a flag', '--name', 'flagged');
    expect([code, stderr]).to.equal([0, '']);
    const { prompt } = (await world.client.agents.list()).agents[0] ?? {};
    expect(prompt).to.equal('From a flag');
    await world.cli(['agents', 'spawn', '--prompt', '-'], { stdin: 'From stdin' });
    expect((await world.client.agents.list()).agents[0]?.prompt).to.equal('From stdin');
    const twice = await shown('spawn', 'Hi', '--prompt', 'Ho');
    expect([twice.code, twice.stderr]).to.equal([
      2,
      'prompt was passed twice: as an argument and as --prompt. Pass prompt once.\n',
    ]);
  });

  it('follows what it spawned to its end', async () => {
    const { code, stdout, stderr } = await shown('spawn', 'Say hello', '--follow');
    expect([code, statuses(stdout).at(-1)]).to.equal([0, '4 agent.status completed']);
    expect(stderr).to.match(/-- completed, 1 step, /);
  });

  it('asks for the prompt at a terminal alone', async () => {
    const asked = await world.cli(['agents', 'spawn'], { terminal: 80, answers: ['Say hello'] });
    expect([asked.code, asked.stdout]).to.equal([0, '']);
    expect(asked.stderr).to.match(/Spawned \S+\. Follow it: adjutant agents tail \w{6}\n$/);
    const { code, stderr } = await shown('spawn');
    expect([code, stderr]).to.equal([
      2,
      'Prompt is required, but there is no terminal to ask for the value. Add the prompt.\n',
    ]);
  });

  it('lists and shows agents, by name and by the end of an id', async () => {
    const id = await spawned('--name', 'greeter');
    expect((await shown('list', '--fields', 'id,name,status,trust')).stdout).to.equal(
      `${id}\tgreeter\tcompleted\ttrusted\n`,
    );
    for (const word of ['greeter', id.slice(-6), id]) {
      expect((await shown('get', word, '--output', 'id')).stdout).to.equal(`${id}\n`);
    }
    expect((await shown('list', '--status', 'failed')).stdout).to.equal('');
    expect((await shown('list', '--status', 'dead')).code).to.equal(2);
  });

  it('says what cannot be done now', async () => {
    const id = await spawned();
    const { code, stderr } = await shown('pause', id.slice(-6));
    expect([code, lines(stderr).length]).to.equal([1, 2]);
    expect(lines(stderr)[1]).to.match(/^Request request_/);
  });

  it('gives an agent another turn, and waits for its end', async () => {
    const id = await spawned();
    expect((await shown('message', id, 'And again')).code).to.equal(0);
    const { code, stdout } = await shown('wait', id, '--json');
    const agent = JSON.parse(stdout);
    expect([code, agent.id, agent.status, agent.steps]).to.equal([0, id, 'completed', 2]);
    const read = await world.cli(['agents', 'wait', id], { terminal: 80 });
    expect(read.stdout).to.equal(`${agent.result}\n`);
    expect(read.stderr).to.equal('-- completed, 2 steps, $0.00 --\n');
  });

  it('deletes one when that is confirmed', async () => {
    const id = await spawned();
    expect((await shown('delete', id)).code).to.equal(2);
    expect((await shown('delete', id, '--yes')).code).to.equal(0);
    expect((await shown('list')).stdout).to.equal('');
  });

  it('shows events, and those after a number', async () => {
    const id = await spawned();
    const { stdout } = await shown('events', id);
    expect(statuses(stdout).map((line) => line.slice(0, 22))).to.equal([
      '1 agent.status queued',
      '2 agent.status running',
      '3 agent.message No lan',
      '4 agent.status complet',
    ]);
    expect(statuses((await shown('events', id, '--after', '3')).stdout)).to.equal([
      '4 agent.status completed',
    ]);
  });

  it('follows an agent to its end, for a person and as JSON', async () => {
    const id = await spawned('--name', 'greeter');
    const read = await world.cli(['agents', 'tail', id, '--until-done'], { terminal: 100 });
    expect([read.code, lines(read.stdout)[0]]).to.equal([0, 'greeter  completed  trusted  digest']);
    expect(lines(read.stdout)[1]).to.match(/^ {3}1 \d\d:\d\d:\d\d {2}status {4}queued$/);
    expect(lines(read.stdout).every((line) => line.length <= 100)).to.be.true();
    expect(read.stderr).to.equal('-- completed, 1 step, $0.00 --\n');
    const { stdout } = await shown('tail', 'greeter', '--until-done', '--json', '--since', '2');
    expect(lines(stdout).map((line) => JSON.parse(line).id)).to.equal([3, 4]);
  });

  it('wants one agent to follow, or one run', async () => {
    for (const words of [[], ['x', '--execution', 'y']]) {
      const { code, stderr } = await shown('tail', ...words);
      expect([code, lines(stderr)[0]]).to.equal([
        2,
        'Pass one agent, or one execution with --execution.',
      ]);
    }
    expect((await shown('tail', 'x', '--since', 'now')).stderr).to.equal(
      '--since must be the number of an event, such as 12.\n',
    );
  });

  it('finds the agent of a run by the end of its id', async () => {
    const action = ['--action', 'spawn_agent', '--agent-prompt', 'Triage.'];
    const trigger = ['--trigger', 'webhook', '--webhook-path', 'in'];
    await world.cli(['hooks', 'create', '--name', 'in', ...trigger, ...action]);
    const run = (await world.cli(['hooks', 'test', 'in', '--output', 'id'])).stdout.trim();
    const { code, stdout } = await shown('wait', '--execution', run.slice(-6), '--json');
    expect([code, JSON.parse(stdout).executionId]).to.equal([0, run]);
  });

  it('goes on until ^C, through a restart of the daemon, and says so', async () => {
    const id = await spawned();
    const tail = start(['agents', 'tail', id, '--server', world.app.url]);
    for (let n = 1; n <= 4; n++) expect(await tail.line()).to.match(new RegExp(`^${n}\t`));
    expect(await tail.note()).to.match(
      /^-- completed, 1 step, .* \^C exits, or use --until-done --$/,
    );
    await world.app.restart({ port: Number(new URL(world.app.url).port) });
    expect(await tail.note()).to.match(
      /^-- lost the connection to the daemon \S+ \(the server is stopping\), reconnecting --$/,
    );
    expect(await tail.note()).to.match(/^-- reconnected \S+, 0 caught up, none missing --$/);
    await world.client.agents.message({ id, body: { content: 'Again' } });
    expect(await tail.line()).to.match(/^5\t\S+\tagent.status\tqueued$/);
    tail.interrupt();
    expect(await tail.ended).to.equal(130);
  });

  it('ends without a word when nobody reads on', async () => {
    const id = await spawned();
    const tail = start(['agents', 'tail', id, '--server', world.app.url]);
    await tail.line();
    tail.hangUp();
    await tail.note();
    await world.client.agents.message({ id, body: { content: 'Again' } });
    expect(await tail.ended).to.equal(0);
    expect(await tail.note()).to.equal('undefined');
  });
});
