import { createPool, type Pool } from '../../kernel/pool.js';
import type { payloadTasks } from './tasks.js';

/** For large payloads and other work on untrusted input that may take long. */
export type PayloadPool = Pool<typeof payloadTasks>;

/** Maximum queued tasks. See UNVERIFIED_BYTES. */
const WAITING = 512;

/** In milliseconds, per payload. */
const LIMIT_MS = 30_000;
/** In MiB. The worst body of 4 MiB needs about 200. */
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
