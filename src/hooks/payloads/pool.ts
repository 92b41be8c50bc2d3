import { createPool, type Pool } from '../../kernel/pool.js';
import type { payloadTasks } from './tasks.js';

/** The threads for large payloads, and for all work on untrusted input that may take long. */
export type PayloadPool = Pool<typeof payloadTasks>;

/**
 * The maximum number of waiting tasks. At most as many bodies over 128 KiB are held at once, see
 * UNVERIFIED_BYTES.
 */
const WAITING = 512;

/**
 * The time limit for one payload, in milliseconds; also the longest time for which a task without
 * another limit would keep a thread from others.
 */
const LIMIT_MS = 30_000;
/** The maximum heap of a thread, in MiB. A body of 4 MiB takes some 200 at the very worst. */
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
