import { createHmac } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BackupView } from '../../../src/client/index.js';
import { isAcknowledged } from '../../faults/senders.js';
import { startApp, type TestApp, type TestOptions, until } from '../../harness/app.js';

export const PASSPHRASE = 'a passphrase for keys';
const SECRET = 'a secret of the hook';

/** A daemon with an admin, and a folder beside its home. */
export interface Stage {
  app: TestApp;
  token: string;
  folder: string;
  /** Begins one and waits for its end. */
  made(body?: object): Promise<BackupView>;
  ended(id: string): Promise<BackupView>;
  /** Leaves it with no backup, and another folder. */
  clear(): Promise<void>;
  stop(): Promise<void>;
}

export const openStage = async (options: TestOptions = {}): Promise<Stage> => {
  const app = await startApp(options);
  const { token } = await app.register('ada');
  const ended = async (id: string): Promise<BackupView> => {
    const path = `/api/admin/backups/${id}?wait=20`;
    const ask = async () => (await app.call('GET', path, { token })).body;
    return until<BackupView>(ask, ({ status }) => status !== 'running');
  };
  const removeFolder = () => rm(stage.folder, { recursive: true, force: true });
  const stage: Stage = {
    app,
    token,
    folder: await makeFolder(),
    ended,
    made: async (body = { passphrase: PASSPHRASE, folder: stage.folder }) =>
      ended((await app.call('POST', '/api/admin/backups', { token, body })).body.id),
    clear: async () => {
      await app.app.store.db.deleteFrom('backups').execute();
      await removeFolder();
      stage.folder = await makeFolder();
    },
    stop: async () => {
      await app.stop();
      await removeFolder();
    },
  };
  return stage;
};

const makeFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'adjutant-backup-'));

/** A hook that receives on a path. */
export const addHook = async ({ app, token }: Stage, path: string, over: object = {}) => {
  const triggerConfig = { webhookPath: path, webhookSecret: SECRET };
  const action = { action: 'notify', actionConfig: { notifyMessage: 'It came' } };
  const body = { name: path, trigger: 'webhook', triggerConfig, ...action, ...over };
  return (await app.call('POST', '/api/hooks', { token, body })).body.id;
};

/** One signed delivery; the ids of the executions that it was acknowledged with. */
export const deliver = async (url: string, path: string, n = 0): Promise<string[]> => {
  const body = JSON.stringify({ n });
  const signature = createHmac('sha256', SECRET).update(body).digest('hex');
  const response = await fetch(`${url}/api/webhooks/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}` },
    body,
  });
  const answer: unknown = await response.json();
  if (!isAcknowledged(answer)) throw new Error(`Not taken: ${response.status}`);
  return answer.executions;
};
