import { execFileSync } from 'node:child_process';
import { SECRET, startAdjutant } from './contenders.js';
import { startGenerator } from './load.js';

const DELAY_US = 5000;
const UNDER = [
  'strace',
  '-f',
  '--seccomp-bpf',
  '-qq',
  '-o',
  '/dev/null',
  '-e',
  'trace=fsync,fdatasync',
  '-e',
  `inject=fsync,fdatasync:delay_enter=${DELAY_US}`,
];

/** With a slow disk: the receiver, and another route beside it, which must not feel it. */
export const measureSlowDisk = async (): Promise<Record<string, string>> => {
  if (!canTrace()) return { note: 'skipped: strace cannot be used here' };
  const { daemon, path, stop } = await startAdjutant('held', { under: UNDER });
  const [deliveries, probe] = [startGenerator(), startGenerator()];
  const load = { url: daemon.url, secret: SECRET, seed: 'slow' };
  const beside = { ...load, kind: 'gets' as const, path: '/health/live', connections: 1 };
  const delivering = deliveries.run({
    ...load,
    kind: 'deliveries',
    path,
    count: 5000,
    connections: 50,
  });
  const probed = probe.run({ ...beside, count: 300, pauseMs: 5 });
  const [{ perSecond, p50, p99 }, other] = await Promise.all([delivering, probed]);
  deliveries.close();
  probe.close();
  await stop();
  return {
    'per second': Math.round(perSecond).toString(),
    'p50 ms': p50.toFixed(2),
    'p99 ms': p99.toFixed(2),
    'other routes p99': `${other.p99.toFixed(2)} ms (goal 20)`,
  };
};

const canTrace = (): boolean => {
  try {
    execFileSync('strace', ['-o', '/dev/null', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};
