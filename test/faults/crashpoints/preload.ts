import childProcess, { type ForkOptions } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import fs from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { ARMED, TRACE } from './files.js';

/**
 * Loaded into each thread of a daemon before it starts. Counts the changes that the disk or anybody
 * outside can see, and ends the process with SIGKILL right after the armed one. A kill between two of
 * them leaves the same as one right after the first.
 */
const folder = process.env.CRASH_POINTS ?? '';
/** The daemon comes first, so that it does not see the end of its own process. */
const processes = new Set([Number(process.env.CRASH_DAEMON ?? process.pid), process.pid]);

/** Called in several threads, whose common count is the number of lines of the trace. */
const happened = (change: string): void => {
  const armed = readIfThere(join(folder, ARMED));
  if (armed === '') return;
  const [number, start = ''] = armed.split(' ');
  const trace = join(folder, TRACE);
  fs.appendFileSync(trace, `${change}\n`);
  const changes = fs.readFileSync(trace, 'utf8').split('\n').slice(0, -1);
  if (changes.filter((each) => each.startsWith(start)).length < Number(number)) return;
  for (const pid of processes) process.kill(pid, 'SIGKILL');
};

const readIfThere = (file: string): string => {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return '';
  }
};

const { prepare, transaction } = Database.prototype;

Database.prototype.prepare = function (this: Database.Database, sql: string) {
  const statement = prepare.call(this, sql);
  if (sql !== 'COMMIT') return statement;
  const run = statement.run.bind(statement);
  const hasChanged = createChangeDetector(this);
  statement.run = () => {
    const result = run([]);
    if (hasChanged()) happened('commit');
    return result;
  };
  return statement;
} as typeof prepare;

Database.prototype.transaction = function (this: Database.Database, work: () => unknown) {
  const hasChanged = createChangeDetector(this);
  return new Proxy(transaction.call(this, work), {
    apply: (perform, _, inputs: []) => {
      const result = perform(...inputs);
      if (!this.inTransaction && hasChanged()) happened('commit');
      return result;
    },
  });
} as typeof transaction;

/** Whether rows have changed since the last call. */
const createChangeDetector = (db: Database.Database): (() => boolean) => {
  const count = prepare.call(db, 'SELECT total_changes()').pluck();
  let before = count.get();
  return () => {
    const now = count.get();
    const hasChanged = now !== before;
    before = now;
    return hasChanged;
  };
};

/** Processes of the daemon count too: that of the search index commits. */
const { fork } = childProcess;
childProcess.fork = ((script: string, args: string[], options: ForkOptions) =>
  fork(script, args, {
    ...options,
    execArgv: [...(options.execArgv ?? []), '--import', import.meta.url],
    env: { ...options.env, CRASH_POINTS: folder, CRASH_DAEMON: `${process.pid}` },
  })) as typeof fork;

const { fsyncSync, renameSync, promises } = fs;
fs.fsyncSync = (file) => {
  fsyncSync(file);
  happened('fsync');
};
fs.renameSync = (from, to) => {
  renameSync(from, to);
  happened('rename');
};
const { rename } = promises;
promises.rename = async (from, to) => {
  await rename(from, to);
  happened('rename');
};
syncBuiltinESMExports();

const handle = await promises.open(import.meta.filename);
const FileHandle = Object.getPrototypeOf(handle);
const { sync } = FileHandle;
FileHandle.sync = async function () {
  await sync.call(this);
  happened('fsync');
};
await handle.close();

/** Reads change nothing, and tests poll with them. */
const READS = ['GET', 'HEAD'];

subscribe('http.server.response.finish', (message) => {
  const { method = '', url } = (message as { request: IncomingMessage }).request;
  if (!READS.includes(method)) happened(`reply ${method} ${url}`);
});

subscribe('undici:request:trailers', (message) => {
  const { method, path } = (message as { request: { method: string; path: string } }).request;
  happened(`request ${method} ${path}`);
});
