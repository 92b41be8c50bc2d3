import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { queueDeliveries } from '../faults/queue.js';
import { startDaemon } from '../harness/daemon.js';
import { type Figures, measureReceivers } from './receivers.js';

const MILLION = 1_000_000;

/** The same again, with a history. */
export const measureMillion = async (rounds: number): Promise<Figures[]> => {
  const home = await mkdtemp(join(tmpdir(), 'adjutant-million-'));
  await (await startDaemon({ home })).end('SIGTERM');
  queueDeliveries(home, MILLION, true);
  const figures = await measureReceivers(
    { connections: 50, count: 10_000, rounds, through: 'wire' },
    home,
  );
  await rm(home, { recursive: true });
  return figures;
};
