import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createClient, type PipelineRunDetail } from '../../src/client/index.js';
import { PASSWORD, until } from '../harness/app.js';
import { type Daemon, startDaemon } from '../harness/daemon.js';
import { openTarget, type Target } from '../harness/target.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const RUNS = 24;
/** The milliseconds between the starts and the kills. */
const KILLS = [20, 60, 120, 200, 300, 450];
const LIMIT_MS = 120_000;

describe('runs of pipelines that are killed', () => {
  let home: string;
  let daemon: Daemon;
  let target: Target;
  let token: string;
  const client = () => createClient({ url: daemon.url, token });
  const env = () => ({ ADJUTANT_EGRESS_ALLOW: target.address });
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'adjutant-test-'));
    target = await openTarget();
    daemon = await startDaemon({ home, env: env() });
    ({ token } = await client().auth.register({ body: { username: 'ada', password: PASSWORD } }));
  });
  after(async () => {
    await daemon.end('SIGKILL');
    target.close();
    await rm(home, { recursive: true, force: true });
  });

  const template = () => ({
    name: 'Killed',
    stages: [
      { key: 'now', kind: 'tool' as const, config: { toolId: 'time', toolAction: 'now' } },
      {
        key: 'send',
        kind: 'http' as const,
        needs: ['now'],
        config: { method: 'POST', url: `${target.url}/{{run.id}}`, body: 'once' },
      },
      { key: 'ok', kind: 'approval' as const, needs: ['now'], config: { message: 'Go on?' } },
      {
        key: 'agent',
        kind: 'agent' as const,
        needs: ['send'],
        config: { prompt: 'Say something', model: 'digest' },
      },
      { key: 'wait', kind: 'wait' as const, needs: ['agent', 'ok'], config: { seconds: 0.05 } },
    ],
  });

  const runs = async (): Promise<PipelineRunDetail[]> => {
    const { pipelines } = await client().pipelines.list({ query: { limit: 200 } });
    return Promise.all(pipelines.map(({ id }) => client().pipelines.get({ id })));
  };

  /** Approves what waits; returns the runs in which a call is to be made again. */
  const answer = async (): Promise<string[]> => {
    const again: string[] = [];
    for (const { id, stages } of await runs()) {
      for (const { key, status, digest } of stages) {
        if (status !== 'waiting_approval' || digest === null) continue;
        if (key === 'send') again.push(id);
        await client().pipelines.approve({ id, key, body: { digest } });
      }
    }
    return again;
  };

  it('all end; no call is made twice unasked', { timeout: LIMIT_MS }, async () => {
    // Slow enough that kills meet calls that are under way.
    target.answer = (response) => void setTimeout(() => response.end('fine'), 150);
    const { id: templateId } = await client().templates.create({ body: template() });
    const again: string[] = [];
    for (const ms of KILLS) {
      const { pipelines } = client();
      const started = Array.from({ length: RUNS / KILLS.length }, () =>
        pipelines.start({ body: { templateId } }),
      );
      const settled = Promise.allSettled(started);
      await pause(ms);
      await daemon.end('SIGKILL');
      await settled;
      daemon = await startDaemon({ home, env: env() });
      again.push(...(await answer()));
    }
    const all = await until(
      async () => {
        again.push(...(await answer()));
        return runs();
      },
      (now) => now.every(({ finishedAt }) => finishedAt !== null),
      60_000,
    );
    // Some kills have met a call that was under way, or the test would show nothing.
    expect(again.length).to.be.above(0);
    expect(all.map(({ status, error }) => [status, error])).to.equal(
      all.map(() => ['completed', null]),
    );
    for (const { id } of all) {
      const sent = target.received.filter(({ path }) => path === `/${id}`).length;
      const asked = again.filter((each) => each === id).length;
      expect([id, sent >= 1, sent <= 1 + asked]).to.equal([id, true, true]);
    }
    const { agents } = await client().agents.list({ query: { limit: 200 } });
    expect(agents.length).to.equal(all.length);
  });
});
