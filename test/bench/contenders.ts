import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { addHook, registerOwner } from '../harness/account.js';
import { type Daemon, startDaemon } from '../harness/daemon.js';

/** A server that takes signed deliveries on a path. */
export interface Contender {
  name: string;
  daemon: Daemon;
  path: string;
  stop(): Promise<void>;
}

export const SECRET = 'a secret of the benchmark';
const BARE = fileURLToPath(new URL('./bare.js', import.meta.url));

/** `node:http` that only checks the HMAC. */
export const startFloor = (): Promise<Contender> =>
  onScratch(async (home) => startDaemon({ home, entry: [BARE, SECRET] }), 'node:http, HMAC only');

/** `node:http` with the same durable work. */
export const startDurable = (): Promise<Contender> =>
  onScratch(
    async (home) => startDaemon({ home, entry: [BARE, SECRET, home] }),
    'node:http, durable',
  );

/** What the deliveries of a measurement do once they are kept. */
export type Runs = 'held' | 'notify';

/**
 * The daemon with one hook. `held`: its runs wait for a target that does not answer, as runs wait
 * for a model, so that the receiver is measured; `notify`: each runs to its end beside it.
 */
export const startAdjutant = async (
  runs: Runs,
  { home: kept, under }: { home?: string; under?: string[] } = {},
): Promise<Contender> => {
  const silent = await startSilent();
  const contender = await onScratch(
    async (home) =>
      startDaemon({
        home,
        env: { ADJUTANT_EGRESS_ALLOW: `127.0.0.1:${silent.port}` },
        ...(under && { under }),
      }),
    runs === 'held' ? 'Adjutant' : 'Adjutant, runs beside',
    kept,
  );
  const owner = await registerOwner(contender.daemon.url);
  await addHook(owner, {
    name: 'bench',
    path: 'bench',
    secret: SECRET,
    ...(runs === 'held'
      ? { action: 'webhook', actionConfig: { webhookUrl: `http://127.0.0.1:${silent.port}/` } }
      : { action: 'notify', actionConfig: { notifyMessage: '{{webhook.body.action}}' } }),
  });
  return {
    ...contender,
    stop: async () => {
      await contender.stop();
      silent.close();
    },
  };
};

const onScratch = async (
  start: (home: string) => Promise<Daemon>,
  name: string,
  kept?: string,
): Promise<Contender> => {
  const home = kept ?? (await mkdtemp(join(tmpdir(), 'adjutant-bench-')));
  const daemon = await start(home);
  return {
    name,
    daemon,
    path: '/api/webhooks/bench',
    stop: async () => {
      await daemon.end('SIGKILL');
      if (kept === undefined) await rm(home, { recursive: true, force: true });
    },
  };
};

/** Takes connections and never answers. */
const startSilent = async (): Promise<{ port: number; close(): void }> => {
  const server = createServer((socket) => socket.on('error', () => socket.destroy()).unref());
  server.unref();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    close: () => server.close(),
  };
};
