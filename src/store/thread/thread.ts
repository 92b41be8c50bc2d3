import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { releaseWhenIdle } from '../../kernel/release.js';
import { openProcedures } from '../../procedures.js';
import { Heads } from '../audit/heads.js';
import { auditKeyIn } from '../audit/key.js';
import type {
  Batch,
  BatchAnswer,
  ThreadOptions,
  ThreadReply,
  ThreadRequest,
} from '../engine/protocol.js';
import { createBatchRunner } from './batches.js';
import { checkpoint, checkpointByTimer, emptyLog, limitLogSize } from './checkpoint.js';
import { openReadOnly, openWriter, takeLock } from './database.js';

interface Role {
  perform(batches: Batch[]): void;
  checkpoint(): void;
  close(): void;
}

const port = parentPort;
if (!port) throw new Error('Start the database thread through the store');
const options: ThreadOptions = workerData;
const reply = (message: ThreadReply): void => port.postMessage(message);

/** Calls that arrive during a transaction share the next one and its fsync. */
const openWriting = async (): Promise<Role> => {
  const lock = takeLock(options.home);
  const { db, opened } = await openWriter(options.home, options.migrations);
  const queued: string[] = [];
  const runner = createBatchRunner(db, openProcedures(db, options, queued), queued);
  const bound = limitLogSize(db);
  const heads = new Heads(db, { ...options, auditKey: auditKeyIn(db, options) });
  reply({ kind: 'opened', opened, audit: heads.open() });
  return {
    perform: (batches) => {
      const answers = runner.write(batches.flatMap(({ works }) => works));
      const answered = batches.map(({ id, works }): BatchAnswer => {
        return { id, answers: answers.splice(0, works.length) };
      });
      reply({ kind: 'answers', batches: answered, audit: heads.keep(), lanes: queued.splice(0) });
      bound();
    },
    checkpoint: () => checkpoint(db),
    close: () => {
      emptyLog(db);
      db.close();
      lock.close();
    },
  };
};

/** Each batch gets its own reply, so that no caller waits for another's list. */
const openReading = async (): Promise<Role> => {
  const db = openReadOnly(options.home);
  const runner = createBatchRunner(db, openProcedures(db, options));
  const stopCheckpoints = checkpointByTimer(db);
  const opened = { isNew: false, schema: 0, snapshot: null, migrated: [] };
  reply({ kind: 'opened', opened, audit: null });
  return {
    perform: (batches) => {
      for (const { id, works } of batches) {
        const answered = [{ id, answers: runner.read(works) }];
        reply({ kind: 'answers', batches: answered, audit: null, lanes: [] });
      }
    },
    checkpoint: () => checkpoint(db),
    close: () => {
      stopCheckpoints();
      db.close();
    },
  };
};

const arrived = (first: ThreadRequest): ThreadRequest[] => {
  const requests = [first];
  for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) {
    requests.push(next.message);
  }
  return requests;
};

const serve = (role: Role): void => {
  const stopReleasing = releaseWhenIdle((error) => process.emitWarning(String(error)));
  port.on('message', (first: ThreadRequest) => {
    const requests = arrived(first);
    const batches = requests.filter((request) => request.kind === 'batch');
    if (batches.length > 0) role.perform(batches);
    if (requests.some(({ kind }) => kind === 'checkpoint')) role.checkpoint();
    if (!requests.some(({ kind }) => kind === 'close')) return;
    stopReleasing();
    role.close();
    port.close();
  });
};

const refuse = (error: unknown): void => {
  reply({ kind: 'refused', message: error instanceof Error ? error.message : String(error) });
  port.close();
};

const open = options.role === 'writer' ? openWriting : openReading;
port.once('message', ({ kind }: ThreadRequest) => {
  if (kind === 'open') open().then(serve, refuse);
  else port.close();
});
