import { createPool, type Pool } from '../../kernel/pool.js';
import type { payloadTasks } from './tasks.js';

/** The threads that read large payloads, and all that may take long on what strangers sent. */
export type PayloadPool = Pool<typeof payloadTasks>;

/** Bodies over 128 KiB that are held at once are at most as many, see UNVERIFIED_BYTES. */
const WAITING = 512;

export const createPayloadPool = (): PayloadPool =>
  createPool({
    script: new URL('./thread.js', import.meta.url),
    size: 2,
    waiting: WAITING,
    limitMs: 30_000,
    idleMs: 60_000,
  });
