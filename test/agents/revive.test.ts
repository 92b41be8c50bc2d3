import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { Client } from '../../src/client/index.js';
import { loginOwner, registerOwner } from '../harness/account.js';
import { until } from '../harness/app.js';
import { startDaemon } from '../harness/daemon.js';
import { hangs, type Openai, type Reply, startOpenai } from '../harness/openai.js';
import type { Said } from '../harness/wire.js';
import { mind, type Read } from './mind.js';
import { call } from './stage.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const delegates = (...orders: object[]): Said => ({
  toolCalls: orders.map((order, at) => call('agents_delegate', order, `d${at}`)),
});

/** The engineer has a middle with a leaf under it, and a leaf; leaves hang before the kill. */
const deep = ({ system, task, results }: Read, isAfter: boolean): Said | Reply => {
  if (system.startsWith('You choose')) return { text: 'engineer - it is code' };
  if (results.length > 0) return { text: `${task}: ${results.length}` };
  if (task === 'leaf') return isAfter ? { text: 'leaf' } : hangs;
  return task === 'Root'
    ? delegates({ prompt: 'middle' }, { prompt: 'leaf' })
    : delegates({ prompt: 'leaf' });
};

describe('agents that wait for others, and a SIGKILL', () => {
  let home: string;
  let model: Openai;
  let think: (read: Read) => Said | Reply = () => ({ text: 'Done.' });
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'adjutant-test-'));
    model = await startOpenai();
    model.script(...mind((read) => think(read)));
  });
  afterEach(async () => {
    await model.stop();
    await rm(home, { recursive: true });
  });

  const start = () =>
    startDaemon({
      home,
      env: { ADJUTANT_MODEL_URL: model.baseUrl, ADJUTANT_MODEL_NAME: 'fake' },
    });
  const all = async (owner: Client, rootId: string) =>
    (await owner.agents.list({ query: { rootId, limit: 200 } })).agents.reverse();

  it('go on where they were, and nobody is begun twice', async () => {
    const first = await start();
    let owner = await registerOwner(first.url);
    let isAfter = false;
    think = (read) => deep(read, isAfter);
    const root = await owner.agents.spawn({
      body: { prompt: 'Root', orchestrated: true, limits: { maxDepth: 3 } },
    });
    const before = await until(
      () => all(owner, root.id),
      (agents) =>
        agents.filter(({ prompt }) => prompt === 'leaf').length === 2 &&
        agents.every(({ steps }) => steps > 0),
    );
    await first.end('SIGKILL');

    isAfter = true;
    const second = await start();
    owner = await loginOwner(second.url);
    const after = await until(
      () => all(owner, root.id),
      (agents) => agents.every(({ status }) => status === 'completed'),
    );
    const shape = (agents: typeof before) =>
      agents.map(({ id, parentId, prompt, role }) => [id, parentId, prompt, role]);
    expect(shape(after)).to.equal(shape(before));
    expect(after.map(({ prompt, role }) => role ?? prompt)).to.equal([
      'orchestrator',
      'engineer',
      'middle',
      'leaf',
      'leaf',
    ]);
    expect(after.map(({ result }) => result)).to.equal([
      'Root: 1',
      'Root: 2',
      'middle: 1',
      'leaf',
      'leaf',
    ]);
    await second.end('SIGTERM');
  });
});
