import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createClient, type PipelineRun } from '../../src/client/index.js';
import { PASSWORD, until } from '../harness/app.js';
import { type Daemon, startDaemon } from '../harness/daemon.js';
import { openTarget, type Target } from '../harness/target.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const RUNS = 200;
/** The milliseconds before each kill. */
const KILLS = [100, 200, 300, 450, 600, 800, 1000, 1300, 1700, 2500];

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

  const now = { kind: 'tool' as const, config: { toolId: 'time', toolAction: 'now' } };
  const post = (path: string) => ({
    kind: 'http' as const,
    config: { method: 'POST', url: `${target.url}/${path}`, body: 'once' },
  });
  const nested = () => ({
    name: 'Nested',
    stages: [
      { key: 'begin', ...now },
      { key: 'post', needs: ['begin'], ...post('{{run.id}}-nested') },
    ],
  });
  /** Twelve stages, of which four have effects. */
  const template = (templateId: string) => ({
    name: 'Killed',
    stages: [
      { key: 'now', ...now },
      { key: 'send', needs: ['now'], ...post('{{run.id}}') },
      { key: 'ok', kind: 'approval' as const, needs: ['now'], config: { message: 'Go on?' } },
      { key: 'a', needs: ['now'], ...now },
      { key: 'b', needs: ['a'], ...now },
      { key: 'c', needs: ['a', 'b'], ...now },
      {
        key: 'agent',
        kind: 'agent' as const,
        needs: ['send'],
        config: { prompt: 'Say something', model: 'digest' },
      },
      { key: 'wait', kind: 'wait' as const, needs: ['ok'], config: { seconds: 0.05 } },
      {
        key: 'each',
        kind: 'foreach' as const,
        needs: ['c'],
        config: { items: ['x', 'y'], stage: post('{{run.id}}-{{item}}') },
      },
      { key: 'sub', kind: 'pipeline' as const, needs: ['wait'], config: { templateId } },
      { key: 'd', needs: ['sub', 'each'], ...now },
      { key: 'last', needs: ['d', 'agent'], allowUntrusted: true, ...post('{{run.id}}-last') },
    ],
  });

  const runs = async (query: object): Promise<PipelineRun[]> =>
    (await client().pipelines.list({ query: { limit: 200, ...query } })).pipelines;
  const waitingParts = async (parentId: string): Promise<PipelineRun[]> => {
    const waiting = await runs({ parentId, status: 'waiting' });
    return [...waiting, ...(await Promise.all(waiting.map(({ id }) => waitingParts(id)))).flat()];
  };

  /** Approves what waits; returns the paths of the calls that are to be made again. */
  const answer = async (approved: Set<string>): Promise<string[]> => {
    const again: string[] = [];
    const open = [...(await runs({ status: 'running' })), ...(await runs({ status: 'waiting' }))];
    const parts = await Promise.all(open.map(({ id }) => waitingParts(id)));
    for (const { id } of [...open, ...parts.flat()]) {
      const { stages } = await client().pipelines.get({ id });
      for (const { key, status, digest, input } of stages) {
        if (status !== 'waiting_approval' || digest === null) continue;
        const { url } = Object(Object(input).arguments);
        if (typeof url === 'string') again.push(new URL(url).pathname);
        // An approval that was given is never asked for again.
        else expect([id, approved.has(id)]).to.equal([id, false]);
        await client().pipelines.approve({ id, key, body: { digest } });
        if (typeof url !== 'string') approved.add(id);
      }
    }
    return again;
  };

  /** Checks that each call was made once, and further times only if its owner was asked. */
  const refuseRepeats = async (all: PipelineRun[], again: string[]): Promise<void> => {
    const nestedRuns = await Promise.all(all.map(({ id }) => runs({ parentId: id })));
    const paths = all.flatMap(({ id }) => ['', '-x', '-y', '-last'].map((end) => `/${id}${end}`));
    const nestedPaths = nestedRuns
      .flat()
      .filter(({ itemAt }) => itemAt === null)
      .map(({ id }) => `/${id}-nested`);
    expect(nestedPaths.length).to.equal(all.length);
    const count = (list: string[], path: string) => list.filter((each) => each === path).length;
    const received = target.received.map(({ path }) => path);
    expect([...new Set(received)].sort()).to.equal([...paths, ...nestedPaths].sort());
    const twice = [...paths, ...nestedPaths].filter(
      (path) => count(received, path) > 1 + count(again, path),
    );
    expect(twice).to.equal([]);
  };

  it('all end; no call is made twice unasked', async () => {
    // Slow enough that kills meet calls that are under way.
    target.answer = (response) => void setTimeout(() => response.end('fine'), 60);
    const below = await client().templates.create({ body: nested() });
    const { id: templateId } = await client().templates.create({ body: template(below.id) });
    const again: string[] = [];
    const approved = new Set<string>();
    const { pipelines } = client();
    await Promise.all(
      Array.from({ length: RUNS }, () => pipelines.start({ body: { templateId } })),
    );
    for (const ms of KILLS) {
      await pause(ms);
      await daemon.end('SIGKILL');
      daemon = await startDaemon({ home, env: env() });
      again.push(...(await answer(approved)));
    }
    const all = await until(
      async () => {
        again.push(...(await answer(approved)));
        return runs({ templateId });
      },
      (now) => now.every(({ finishedAt }) => finishedAt !== null),
      120_000,
    );
    // Some kills have met a call that was under way, or the test would show nothing.
    expect(again.length > 0).to.be.true();
    expect(all.filter(({ status }) => status !== 'completed')).to.equal([]);
    expect(approved.size).to.equal(all.length);
    await refuseRepeats(all, again);
    const { agents } = await client().agents.list({ query: { limit: 200 } });
    expect(agents.length).to.equal(all.length);
  });
});
