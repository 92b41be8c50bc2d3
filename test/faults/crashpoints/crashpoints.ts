import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
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
   * change after which the daemon was killed. Null in the last round, which ends without a kill.
   */
  verify(scene: Scene, last: string | null): Promise<void>;
}

/** No scenario has as many crash points. */
const MAX_ROUNDS = 60;

const at = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const ENTRY = [...V8_OPTIONS, '--import', at('./preload.js'), at('../../harness/serve.js')];

/**
 * Does the work in round after round. In round n the daemon is killed right after the n-th change
 * that is visible outside it (see preload.ts), and the next daemon continues the work. Ends with the
 * first round without a kill. Resolves to the changes of that round, which are the crash points.
 */
export const atEachCrashPoint = async (scenario: Scenario): Promise<string[]> => {
  const home = await mkdtemp(join(tmpdir(), 'adjutant-crash-'));
  const points = await openPoints();
  const env = { ...scenario.env, CRASH_POINTS: points.folder };
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
    for (let n = 1; n <= MAX_ROUNDS; n++) {
      const round = scenario.round(n);
      await round.prepare?.(sceneOf(daemon, owner, home));
      points.arm(n);
      const ended = daemon.ended.then(() => undefined);
      const scene = sceneOf(daemon, owner, home);
      // The daemon counts a reply after sending it. By the next reply it has.
      const run = round.run(scene).then(() => fetch(`${scene.url}/health`));
      const failure = await Promise.race([run, ended]).then(
        () => null,
        (error: unknown) => ({ error }),
      );
      points.disarm();
      const changes = points.trace();
      const isKilled = changes.length >= n;
      try {
        if (failure && !isKilled) throw failure.error;
        await (isKilled && ended);
        if (isKilled) daemon = await start();
        await settled(home, daemon);
        await round.verify(sceneOf(daemon, owner, home), isKilled ? (changes.at(-1) ?? '') : null);
      } catch (error) {
        const place = `${isKilled ? 'Killed' : 'Not killed'} after: ${changes.join(', ')}`;
        throw new Error(`${place}\n${error instanceof Error ? error.message : error}`, {
          cause: error,
        });
      }
      if (!isKilled) return changes;
    }
    throw new Error(`More than ${MAX_ROUNDS} crash points: ${points.trace().join(', ')}`);
  } finally {
    await daemon.end('SIGKILL');
    await rm(home, { recursive: true });
    await rm(points.folder, { recursive: true });
  }
};

/** The folder of a process whose changes are counted (CRASH_POINTS). */
export const openPoints = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'adjutant-points-'));
  const [armed, trace] = [join(folder, ARMED), join(folder, TRACE)];
  return {
    folder,
    arm: (n: number): void => {
      rmSync(trace, { force: true });
      writeFileSync(armed, String(n));
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
