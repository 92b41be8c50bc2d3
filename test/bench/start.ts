import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { queueDeliveries } from '../faults/queue.js';
import { type Daemon, startDaemon } from '../harness/daemon.js';
import { SECRET, startAdjutant } from './contenders.js';
import { median, startGenerator } from './load.js';
import { residentMb } from './memory.js';
import { threadsOf } from './threads.js';

const IDLE_MS = 2000;
const QUEUED = 10_000;
const LOAD = 10_000;

export interface StartFigures {
  /** From the start of the process to the line that says where it listens. */
  readyMs: number;
  /** Processor time until then. */
  readyCpuMs: number;
  /** The same on what a kill left, ten thousand deliveries of it (G20). */
  queuedMs: number;
  /** Resident memory of a daemon with an account that nobody asks for anything. */
  idleMb: number;
  /** The same right after a load. */
  loadedMb: number;
}

/** Measures starts of a home with an account and a hook; each figure is a median of the rounds. */
export const measureStart = async (rounds: number): Promise<StartFigures> => {
  const home = await mkdtemp(join(tmpdir(), 'adjutant-bench-'));
  const loadedMb = await loadedMemory(home);
  const starts: Pick<StartFigures, 'readyMs' | 'readyCpuMs' | 'idleMb'>[] = [];
  for (let round = 0; round < rounds; round++) {
    const daemon = await startDaemon({ home });
    const { readyMs } = daemon;
    const readyCpuMs = await processorMs(daemon);
    await wait(IDLE_MS);
    starts.push({ readyMs, readyCpuMs, idleMb: await residentMb(daemon.pid) });
    await daemon.end('SIGTERM');
  }
  await rm(home, { recursive: true });
  return {
    readyMs: median(starts.map(({ readyMs }) => readyMs)),
    readyCpuMs: median(starts.map(({ readyCpuMs }) => readyCpuMs)),
    idleMb: median(starts.map(({ idleMb }) => idleMb)),
    queuedMs: await readyAfterKill(),
    loadedMb,
  };
};

const loadedMemory = async (home: string): Promise<number> => {
  const { daemon, path, stop } = await startAdjutant('notify', { home });
  const generator = startGenerator();
  const load = { kind: 'deliveries' as const, url: daemon.url, path, secret: SECRET };
  await generator.run({ ...load, seed: 'memory', count: LOAD, connections: 50 });
  const loadedMb = await residentMb(daemon.pid);
  generator.close();
  await stop();
  return loadedMb;
};

const processorMs = async ({ pid }: Daemon): Promise<number> => {
  const used = [...(await threadsOf(pid)).values()];
  return used.reduce((sum, us) => sum + us, 0) / 1000;
};

const readyAfterKill = async (): Promise<number> => {
  const home = await mkdtemp(join(tmpdir(), 'adjutant-bench-'));
  await (await startDaemon({ home })).end('SIGKILL');
  queueDeliveries(home, QUEUED);
  const daemon = await startDaemon({ home });
  await daemon.end('SIGKILL');
  await rm(home, { recursive: true });
  return daemon.readyMs;
};
