import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { queueDeliveries } from '../faults/queue.js';
import { startDaemon } from '../harness/daemon.js';
import { SECRET, startAdjutant } from './contenders.js';
import { median, startGenerator } from './load.js';
import { residentMb } from './memory.js';

const STARTS = 3;
const IDLE_MS = 2000;
const QUEUED = 10_000;

/** Time from the start of the process to ready, and resident memory idle and right after load. */
export const measureStart = async (): Promise<Record<string, string>> => {
  const readyMs: number[] = [];
  for (let n = 1; n < STARTS; n++) {
    const contender = await startAdjutant('notify');
    readyMs.push(contender.daemon.readyMs);
    await contender.stop();
  }
  const { daemon, path, stop } = await startAdjutant('notify');
  readyMs.push(daemon.readyMs);
  await wait(IDLE_MS);
  const idle = await residentMb(daemon.pid);
  const generator = startGenerator();
  const load = { kind: 'deliveries' as const, url: daemon.url, path, secret: SECRET };
  await generator.run({ ...load, seed: 'memory', count: 10_000, connections: 50 });
  const loaded = await residentMb(daemon.pid);
  generator.close();
  await stop();
  return {
    'ready in': `${Math.round(median(readyMs))} ms (goal 500)`,
    'with 10,000 queued': `${Math.round(await readyAfterKill())} ms (goal 1000)`,
    idle: `${idle} MB (goal 100)`,
    'under load': `${loaded} MB`,
  };
};

/** Milliseconds from a start on what a kill left, ten thousand deliveries of it, to ready (G20). */
const readyAfterKill = async (): Promise<number> => {
  const home = await mkdtemp(join(tmpdir(), 'adjutant-bench-'));
  await (await startDaemon({ home })).end('SIGKILL');
  queueDeliveries(home, QUEUED);
  const daemon = await startDaemon({ home });
  await daemon.end('SIGKILL');
  await rm(home, { recursive: true });
  return daemon.readyMs;
};
