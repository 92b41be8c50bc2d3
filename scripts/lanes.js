import { fork } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const LANE = fileURLToPath(new URL('lane.js', import.meta.url));
/** A lane ends after this many files or bytes, before the leftovers of its files add up. */
const MAX_FILES = 60;
const MAX_RESIDENT_BYTES = 900 * 2 ** 20;
/** A file that takes longer hangs and is ended: ten times its recorded time. */
const MIN_LIMIT_MS = 180_000;
const UNKNOWN_LIMIT_MS = 900_000;
const LIMIT_FACTOR = 10;
/** How often a file is looked at within its limit. */
const LOOKS = 10;
/**
 * Memory, if there is enough: an fsync on a disk takes milliseconds, and tests wait for
 * thousands.
 */
const MEMORY = '/dev/shm';
const MIN_MEMORY_BYTES = 4 * 2 ** 30;
/** Environment variables that tests see. All others are removed or set to a known value. */
const KEPT = [...['PATH', 'CI', 'NODE_OPTIONS', 'NODE_V8_COVERAGE'], ...['RUSH_SECONDS', 'FRAMES']];

/** @typedef {{ file: string, tests: object[], errors: string[], ms: number, loadMs: number, output: string, crashed: boolean }} Outcome */

/**
 * Runs the files in order, in lanes: each takes the next file as soon as it is free. `times` are
 * the recorded milliseconds per file. `onEnd` gets the Outcome of each file at once.
 */
export const runInLanes = async (files, { root, lanes, times, grep, onEnd }) => {
  const queue = [...files];
  const lane = async () => {
    let worker = null;
    try {
      for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
        worker ??= await startLane(root);
        const recorded = times[file];
        const limitMs =
          recorded === undefined
            ? UNKNOWN_LIMIT_MS
            : Math.max(MIN_LIMIT_MS, LIMIT_FACTOR * recorded);
        const outcome = await worker.run(file, { grep, limitMs });
        onEnd(outcome);
        if (worker.isWorn()) {
          worker.end();
          worker = null;
        }
      }
    } finally {
      worker?.end();
    }
  };
  await Promise.all(Array.from({ length: Math.min(lanes, files.length) }, lane));
};

const startLane = async (root) => {
  const scratch = mkdtempSync(join(scratchParent(), 'adjutant-test-'));
  const child = fork(LANE, {
    cwd: root,
    env: environment(scratch),
    execArgv: [],
    // A process group of its own, so that all of it can be ended.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  const keep = (text) => {
    output += text;
  };
  child.stdout.setEncoding('utf8').on('data', keep);
  child.stderr.setEncoding('utf8').on('data', keep);
  let onMessage = () => undefined;
  let onExit = () => undefined;
  child.on('message', (message) => onMessage(message));
  child.once('exit', (code, signal) => onExit(`the test process ended: ${signal ?? code}`));
  await new Promise((resolve, reject) => {
    onMessage = resolve;
    onExit = (reason) => reject(new Error(`${reason}\n${output}`));
  });

  let count = 0;
  let isWorn = false;
  const end = () => {
    endGroup(child.pid, scratch);
    rmSync(scratch, { recursive: true, force: true, maxRetries: 3 });
  };
  const stop = () => {
    end();
    // Not at once, so that the other lanes are ended, too.
    setImmediate(() => process.exit(1));
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);

  return {
    isWorn: () => isWorn,
    end: () => {
      process.off('SIGINT', stop).off('SIGTERM', stop);
      end();
    },
    run: (file, { grep, limitMs }) =>
      new Promise((resolve) => {
        output = '';
        const tests = [];
        const began = performance.now();
        const settle = (
          errors,
          { ms = performance.now() - began, loadMs = 0, crashed = false },
        ) => {
          clearInterval(limit);
          // Its last lines may still be in the pipes.
          setImmediate(() => resolve({ file, tests, errors, ms, loadMs, output, crashed }));
        };
        const give = (reason) => {
          isWorn = true;
          endGroup(child.pid, scratch);
          settle([reason], { crashed: true });
        };
        const limit = setInterval(() => {
          const tookMs = performance.now() - began;
          if (tookMs < limitMs * crowding()) return;
          const last = tests.at(-1)?.title;
          const took = `took over ${Math.floor(tookMs / 1000)} s`;
          give(last ? `${took}, the last test that ended: ${last}` : took);
        }, limitMs / LOOKS);
        onExit = give;
        onMessage = (message) => {
          if (!message.end) {
            tests.push(message);
            return;
          }
          onExit = () => undefined;
          isWorn = ++count >= MAX_FILES || message.residentBytes > MAX_RESIDENT_BYTES;
          settle(message.errors, message);
        };
        child.send({ path: join(root, 'dist/test', file), grep });
      }),
  };
};

/** How many processes share a core, at least one: beside others, a file takes longer. */
const crowding = () => Math.max(1, loadavg()[0] / availableParallelism());

const scratchParent = () => {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    if (bavail * bsize >= MIN_MEMORY_BYTES) return MEMORY;
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  return tmpdir();
};

/**
 * Ends the lane and the processes that its tests started, including leaders of other groups,
 * which are found by the scratch folder.
 */
const endGroup = (pid, scratch) => {
  kill(-pid);
  for (const other of processesOf(scratch)) kill(other);
};

const processesOf = (scratch) => {
  const ids = safely(() => readdirSync('/proc'), []).filter((name) => /^\d+$/.test(name));
  return ids
    .filter((id) =>
      safely(() => readFileSync(`/proc/${id}/environ`, 'latin1'), '').includes(scratch),
    )
    .map(Number);
};

/** A process may end while its files are read. */
const safely = (read, otherwise) => {
  try {
    return read();
  } catch {
    return otherwise;
  }
};

const kill = (pid) => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
};

const environment = (scratch) => {
  const folder = (name) => {
    const path = join(scratch, name);
    mkdirSync(path, { mode: 0o700 });
    return path;
  };
  return {
    ...Object.fromEntries(
      KEPT.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
    ),
    HOME: folder('home'),
    XDG_CONFIG_HOME: folder('config'),
    XDG_DATA_HOME: folder('data'),
    XDG_STATE_HOME: folder('state'),
    XDG_CACHE_HOME: folder('cache'),
    XDG_RUNTIME_DIR: folder('run'),
    TMPDIR: folder('tmp'),
    // The CLI writes other output for a dumb terminal.
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    NODE_ENV: 'test',
    TZ: 'UTC',
  };
};
