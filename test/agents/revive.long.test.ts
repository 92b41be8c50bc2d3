import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { Client } from '../../src/client/index.js';
import { loginOwner, registerOwner } from '../harness/account.js';
import { until } from '../harness/app.js';
import { startDaemon } from '../harness/daemon.js';
import { type Openai, type Reply, startOpenai } from '../harness/openai.js';
import type { ModelOutput } from '../harness/wire.js';
import { mind, type Read } from './mind.js';
import { call } from './stage.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

describe('agents that wait for others, and a SIGKILL', () => {
  let home: string;
  let model: Openai;
  let think: (read: Read) => ModelOutput | Reply = () => ({ text: 'Done.' });
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

  it('are killed at six moments and end all the same', async () => {
    think = ({ task, results }) => {
      if (task === 'sub') return { text: 'sub' };
      if (results.length > 0) return { text: `${results.length}` };
      const order = { prompt: 'sub' };
      return { toolCalls: ['a', 'b', 'c'].map((id) => call('agents_delegate', order, id)) };
    };
    let daemon = await start();
    let owner = await registerOwner(daemon.url);
    const roots: string[] = [];
    for (let kill = 0; kill < 6; kill++) {
      const spawned = await Promise.all(
        [1, 2, 3].map(() => owner.agents.spawn({ body: { prompt: 'Root' } })),
      );
      roots.push(...spawned.map(({ id }) => id));
      await new Promise((resolve) => setTimeout(resolve, kill * 20));
      await daemon.end('SIGKILL');
      daemon = await start();
      owner = await loginOwner(daemon.url);
    }
    for (const id of roots) {
      const agents = await until(
        () => all(owner, id),
        (tree) => tree.every(({ status }) => status === 'completed'),
        25_000,
      );
      expect(agents[0]?.result).to.equal('3');
      const { messages } = await owner.sessions.messages({
        id: agents[0]?.sessionId ?? '',
        query: { limit: 200 },
      });
      expect(messages.filter(({ role }) => role === 'tool').length).to.equal(3);
    }
    await daemon.end('SIGTERM');
  });
});
