import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type * as Lab from '@hapi/lab';
import Database from 'better-sqlite3';
import { V8_OPTIONS } from '../../../cli/daemon/start.js';
import { type Owner, registerOwner } from '../../harness/account.js';
import { until } from '../../harness/app.js';
import { type Daemon, startDaemon } from '../../harness/daemon.js';
import { ARMED, TRACE } from './files.js';

/** A running daemon. */
export interface Scene {
  url: string;
  owner: Owner;
  home: string;
  /** Resolves when no work is left. Rejects when the daemon ends. */
  settled(): Promise<void>;
}

export interface Scenario {
  /** Settings of the daemon. */
  env?: Record<string, string>;
  /** Creates what all rounds use. */
  prepare(scene: Scene): Promise<void>;
  /** Changes the database after `prepare`, while no daemon runs. */
  offline?(home: string): void;
  round(n: number): Round;
}

export interface Round {
  /** Prepares the work of this round. Its changes are not counted. */
  prepare?(scene: Scene): Promise<void>;
  /** Does the work up to its end. Ignored after the kill. */
  run(scene: Scene): Promise<void>;
  /**
   * Checks the result in the daemon that has continued the work, when no work is left. `last`: the
   * change after which the daemon was killed. Null in the round that ends without a kill. `changes`:
   * those of the round.
   */
  verify(scene: Scene, last: string | null, changes: string[]): Promise<void>;
}

/**
 * After which changes a process is killed: after each one, or after a few where work is most easily
 * lost or repeated. These are the first change, the first reply, which acknowledges the work, and the
 * last request to another server, whose response is not stored yet. Without requests, it is the first
 * file that gets its name before it is recorded.
 */
export type Points = 'each' | 'few';

/** Tests of one kind of work. */
export type Family = (lab: ReturnType<typeof Lab.script>, points: Points) => void;

/** Nothing has as many crash points. */
const MAX_POINTS = 60;

const at = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const ENTRY = [...V8_OPTIONS, '--import', at('./preload.js'), at('../../harness/serve.js')];

/** Right after the change with this number among those whose text starts so. */
export interface CrashPoint {
  start: string;
  number: number;
}

const NOWHERE = { start: '', number: Number.POSITIVE_INFINITY };

/** Whether the changes end at the point. */
const isReached = (changes: string[], { start, number }: CrashPoint): boolean =>
  changes.filter((change) => change.startsWith(start)).length >= number;

/**
 * Calls `kill` for one point after the other: it ends a process there, unless the work ends before,
 * and resolves to the changes. Resolves to the changes without a kill, which are the crash points.
 */
export const killAt = async (
  points: Points,
  kill: (point: CrashPoint) => Promise<string[]>,
): Promise<string[]> => {
  if (points === 'few') {
    // The first round also does what is done only once.
    await kill({ start: '', number: 1 });
    const changes = await kill(NOWHERE);
    for (const point of chooseFew(changes)) {
      const found = await kill(point);
      if (!isReached(found, point))
        throw new Error(`No kill after ${point.start} ${point.number}: ${found.join(', ')}`);
    }
    return changes;
  }
  for (let number = 1; number <= MAX_POINTS; number++) {
    const point = { start: '', number };
    const changes = await kill(point);
    if (!isReached(changes, point)) return changes;
  }
  throw new Error(`More than ${MAX_POINTS} crash points`);
};

/** The number of changes of a kind differs less between rounds than that of all before it. */
const chooseFew = (changes: string[]): CrashPoint[] => {
  const count = (start: string): number =>
    changes.filter((change) => change.startsWith(start)).length;
  const middle = { start: 'commit', number: Math.ceil(count('commit') / 2) };
  const reply = count('reply') > 0 ? { start: 'reply', number: 1 } : middle;
  const rename = count('rename') > 0 ? { start: 'rename', number: 1 } : middle;
  // The rules of a site are requested once.
  const requests = count('request') - count('request GET /robots.txt');
  const last = requests > 0 ? { start: 'request', number: requests } : rename;
  return [reply, last];
};

/**
 * Does the work in round after round. In most rounds the daemon is killed right after a change that
 * is visible outside it (see preload.ts), and the next daemon continues the work. Resolves to the
 * changes of the round without a kill.
 */
export const atCrashPoints = async (points: Points, scenario: Scenario): Promise<string[]> => {
  const home = await mkdtemp(join(tmpdir(), 'adjutant-crash-'));
  const trap = await openTrap();
  const env = { ...scenario.env, CRASH_POINTS: trap.folder };
  const start = (): Promise<Daemon> => startDaemon({ home, entry: ENTRY, env });
  let daemon = await start();
  try {
    const owner = await registerOwner(daemon.url);
    await scenario.prepare(sceneOf(daemon, owner, home));
    await settled(home, daemon);
    // A daemon that ends regularly stores its compiled code, which the starts after a kill load.
    await daemon.end('SIGTERM');
    scenario.offline?.(home);
    daemon = await start();
    let rounds = 0;
    return await killAt(points, async (point) => {
      const round = scenario.round(++rounds);
      await round.prepare?.(sceneOf(daemon, owner, home));
      trap.arm(point);
      const ended = daemon.ended.then(() => undefined);
      const scene = sceneOf(daemon, owner, home);
      // The daemon counts a reply after sending it. By the next reply it has.
      const run = round.run(scene).then(() => fetch(`${scene.url}/health`));
      const failure = await Promise.race([run, ended]).then(
        () => null,
        (error: unknown) => ({ error }),
      );
      trap.disarm();
      const changes = trap.trace();
      const isKilled = isReached(changes, point);
      try {
        if (failure && !isKilled) throw failure.error;
        await (isKilled && ended);
        if (isKilled) daemon = await start();
        await settled(home, daemon);
        const last = isKilled ? (changes.at(-1) ?? '') : null;
        await round.verify(sceneOf(daemon, owner, home), last, changes);
      } catch (error) {
        const place = `${isKilled ? 'Killed' : 'Not killed'} after: ${changes.join(', ')}`;
        throw new Error(`${place}\n${error instanceof Error ? error.message : error}`, {
          cause: error,
        });
      }
      return changes;
    });
  } finally {
    await daemon.end('SIGKILL');
    await rm(home, { recursive: true });
    await rm(trap.folder, { recursive: true });
  }
};

/** The folder of a process whose changes are counted (CRASH_POINTS). */
export const openTrap = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'adjutant-points-'));
  const [armed, trace] = [join(folder, ARMED), join(folder, TRACE)];
  return {
    folder,
    arm: ({ start, number }: CrashPoint): void => {
      rmSync(trace, { force: true });
      writeFileSync(armed, `${number} ${start}`);
    },
    disarm: (): void => rmSync(armed),
    trace: (): string[] =>
      existsSync(trace) ? readFileSync(trace, 'utf8').trim().split('\n') : [],
  };
};

const sceneOf = (daemon: Daemon, owner: Owner, home: string): Scene => ({
  url: daemon.url,
  owner: owner.with({ url: daemon.url }),
  home,
  settled: () => settled(home, daemon),
});

/** Rows of work that has not ended. */
const WORK = `
  SELECT (SELECT count(*) FROM jobs)
    + (SELECT count(*) FROM executions WHERE run_at IS NOT NULL OR status IN ('queued', 'running'))
    + (SELECT count(*) FROM agents WHERE status IN ('queued', 'running'))
    + (SELECT count(*) FROM sendings WHERE status IN ('queued', 'sending'))
    + (SELECT count(*) FROM operations WHERE status IN ('queued', 'running'))
    + (SELECT count(*) FROM recurring_runs WHERE status IN ('queued', 'running'))
    + (SELECT count(*) FROM pipeline_runs WHERE status IN ('queued', 'running'))
    + (SELECT count(*) FROM backups WHERE status = 'running')`;

const settled = async (home: string, daemon: Daemon): Promise<void> => {
  let isOver = false;
  void daemon.ended.then(() => {
    isOver = true;
  });
  const left = async (): Promise<number> => {
    if (isOver) throw new Error('The daemon has ended');
    return Number(query(home, WORK)[0]);
  };
  await until(left, (count) => count === 0);
};

/** The first column of the rows, read from outside while the daemon runs or not. */
export const query = (home: string, sql: string, ...values: unknown[]): unknown[] => {
  const db = new Database(join(home, 'adjutant.db'), { readonly: true });
  try {
    return db
      .prepare(sql)
      .pluck()
      .all(...values);
  } finally {
    db.close();
  }
};
