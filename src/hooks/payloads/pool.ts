import { createPool, type Pool } from '../../kernel/pool.js';
import type { payloadTasks } from './tasks.js';

/** The threads that read large payloads, and all that may take long on what strangers sent. */
export type PayloadPool = Pool<typeof payloadTasks>;

/** Bodies over 128 KiB that are held at once are at most as many, see UNVERIFIED_BYTES. */
const WAITING = 512;

/** For one payload; also how long one that no bound held would keep a thread from others. */
const LIMIT_MS = 30_000;
/** A body of 4 MiB takes some 200 of them at the very worst. */
const HEAP_MB = 512;

export const createPayloadPool = (limitMs = LIMIT_MS): PayloadPool =>
  createPool({
    script: new URL('./thread.js', import.meta.url),
    size: 2,
    waiting: WAITING,
    limitMs,
    heapMb: HEAP_MB,
    idleMs: 60_000,
  });
