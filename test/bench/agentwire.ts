import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Owner, registerOwner } from '../harness/account.js';
import { startDaemon } from '../harness/daemon.js';
import { allRun } from './contenders.js';
import { threadsOf, usedSince } from './threads.js';

const SERVER = fileURLToPath(new URL('./modelserver.js', import.meta.url));
const STEPS = 10;
/** The agents of the first measurement, of a daemon that has just started, and of the second. */
const FRESH = 3;
const WARM = 200;

export interface WireFigures {
  /** Processor time of a step, in milliseconds: of the first agents of a daemon, and of later ones. */
  freshMs: number;
  warmMs: number;
  stepsPerSecond: number;
}

/**
 * Measures the processor time of a step of agents that ask a model over HTTP: a server in a process
 * of its own, whose time does not count. A step is a question, its answer, a call of a tool and its
 * result, each durable.
 */
export const measureAgentsOverWire = async (): Promise<WireFigures> => {
  const server = fork(SERVER, [String(STEPS)]);
  const [{ url }] = await once(server, 'message');
  const home = await mkdtemp(join(tmpdir(), 'adjutant-bench-'));
  const env = { ADJUTANT_MODEL_URL: url, ADJUTANT_MODEL_NAME: 'fake' };
  const daemon = await startDaemon({ home, env });
  const owner = await registerOwner(daemon.url);
  const measured = (count: number) => measure(owner, { pid: daemon.pid, home, count });
  const fresh = await measured(FRESH);
  await measured(WARM);
  const warm = await measured(WARM);
  await daemon.end('SIGKILL');
  server.disconnect();
  await rm(home, { recursive: true, force: true });
  return { freshMs: fresh.stepMs, warmMs: warm.stepMs, stepsPerSecond: warm.stepsPerSecond };
};

const measure = async (
  owner: Owner,
  { pid, home, count }: { pid: number; home: string; count: number },
): Promise<{ stepMs: number; stepsPerSecond: number }> => {
  const before = await threadsOf(pid);
  const since = performance.now();
  const body = { prompt: 'Work', model: 'fake' };
  for (let n = 0; n < count; n++) await owner.agents.spawn({ body });
  await allRun(join(home, 'adjutant.db'));
  const seconds = (performance.now() - since) / 1000;
  const usedUs = usedSince(before, await threadsOf(pid)).reduce((sum, us) => sum + us, 0);
  const { agents } = await owner.agents.list({ query: { status: 'completed', limit: 1 } });
  if (agents.length === 0) throw new Error('No agent has completed');
  const steps = count * STEPS;
  return { stepMs: usedUs / 1000 / steps, stepsPerSecond: steps / seconds };
};
