import { setTimeout as wait } from 'node:timers/promises';
import { SECRET, startAdjutant } from './contenders.js';
import { median, startGenerator } from './load.js';
import { residentMb } from './memory.js';

const STARTS = 3;
const IDLE_MS = 2000;

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
    idle: `${idle} MB (goal 100)`,
    'under load': `${loaded} MB`,
  };
};
