import { createPool } from '../../kernel/pool.js';
import { servePools } from '../../kernel/poolserver.js';
import type { knowledgeTasks } from './tasks.js';

const SEARCH_MS = 10_000;
const STEP_LIMIT_MS = 300_000;
const SPLIT_MS = 120_000;
/** Nice value of threads that run in the background. */
const NICENESS = 10;
const SHARED = { waiting: 1000, heapMb: 512, idleMs: 60_000 };

const script = new URL('./thread.js', import.meta.url);

servePools<typeof knowledgeTasks>({
  writer: createPool({ script, size: 1, limitMs: STEP_LIMIT_MS, given: NICENESS, ...SHARED }),
  // Separate from the writer, which all users wait for.
  splitter: createPool({ script, size: 1, limitMs: SPLIT_MS, given: NICENESS, ...SHARED }),
  readers: createPool({ script, size: 2, limitMs: SEARCH_MS, ...SHARED }),
});
