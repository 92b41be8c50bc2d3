import { statSync } from 'node:fs';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import type Database from 'better-sqlite3';
import { DATABASE, openReader, openWriter, takeLock } from './opening.js';
import { openProcedures } from './procedures.js';
import type { Reply, Request, ThreadOptions } from './protocol.js';
import { createBatchRunner } from './worker.js';

/** The file that each database thread runs: one connection, one message per batch. */
const CHECKPOINT_EVERY_MS = 500;
const RESTART_ABOVE_BYTES = 64 * 1024 * 1024;
const LOOK_EVERY_BATCHES = 256;

const port = parentPort;
if (!port) throw new Error('The database thread is started by the store');
const options: ThreadOptions = workerData;
const reply = (message: Reply): void => port.postMessage(message);

const serve = (db: Database.Database, afterClose: () => void): void => {
  const isWriter = options.role === 'writer';
  const runner = createBatchRunner(db, isWriter ? openProcedures(db) : {});
  const upkeep = isWriter ? boundLog(db) : checkpointByTimer(db);
  port.on('message', (request: Request) => {
    if (request.kind === 'batch') {
      const answers = isWriter ? runner.write(request.works) : runner.read(request.works);
      reply({ kind: 'answers', id: request.id, answers });
      upkeep.afterBatch();
    } else if (request.kind === 'snapshot') {
      db.backup(request.to).then(
        () => reply({ kind: 'done', id: request.id }),
        (error) => reply({ kind: 'done', id: request.id, failure: String(error) }),
      );
    } else {
      upkeep.stop();
      db.close();
      afterClose();
      reply({ kind: 'done', id: request.id });
      port.close();
    }
  });
};

/**
 * Checkpoints are what shows in p99, so the writer leaves them to the reading thread, whose
 * passive ones hold up no commit. Only a log that outgrew its bound is begun anew here.
 */
const boundLog = (db: Database.Database) => {
  const log = join(options.home, `${DATABASE}-wal`);
  let batches = 0;
  return {
    afterBatch: () => {
      if (++batches % LOOK_EVERY_BATCHES !== 0) return;
      if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) < RESTART_ABOVE_BYTES) return;
      db.pragma('wal_checkpoint(RESTART)');
    },
    stop: () => {
      db.pragma('wal_checkpoint(TRUNCATE)');
    },
  };
};

const checkpointByTimer = (db: Database.Database) => {
  const timer = setInterval(() => {
    try {
      db.pragma('wal_checkpoint(PASSIVE)');
    } catch {
      // A full disk shows in the writer's own answers; the next turn tries again.
    }
  }, CHECKPOINT_EVERY_MS);
  return { afterBatch: () => undefined, stop: () => clearInterval(timer) };
};

const open = async (): Promise<void> => {
  if (options.role === 'reader') {
    serve(openReader(options.home), () => undefined);
    reply({ kind: 'opened', opened: { isNew: false, schema: 0, snapshot: null, migrated: [] } });
    return;
  }
  const lock = takeLock(options.home);
  const { db, opened } = await openWriter(options.home, options.migrations);
  serve(db, () => lock.close());
  reply({ kind: 'opened', opened });
};

open().catch((error) => {
  reply({ kind: 'refused', message: error instanceof Error ? error.message : String(error) });
  port.close();
});
