import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { addHook, type NewHook, registerOwner } from '../harness/account.js';
import { type Daemon, startDaemon } from '../harness/daemon.js';

/** A server that takes signed deliveries on a path. */
export interface Contender {
  name: string;
  daemon: Daemon;
  path: string;
  /** Resolves when everything that it accepted has run; undefined where nothing runs. */
  hasRun?(): Promise<void>;
  stop(): Promise<void>;
}

export const SECRET = 'a secret of the benchmark';
const BARE = fileURLToPath(new URL('./bare.js', import.meta.url));

/** `node:http` that only checks the HMAC. */
export const startFloor = (): Promise<Contender> =>
  onScratch(async (home) => startDaemon({ home, entry: [BARE, SECRET] }), 'node:http, HMAC only');

/** `node:http` with the same durable work. */
export const startDurable = (): Promise<Contender> =>
  onScratch(async (home) => startDaemon({ home, entry: [BARE, SECRET, home] }), DURABLE);

export const DURABLE = 'node:http, durable';

/** The kinds of runs that deliveries cause, each with the contender's name. */
export const RUNS = {
  held: 'Adjutant',
  notify: 'Adjutant, notify',
  judged: 'Adjutant, notify after a condition',
  tool: 'Adjutant, time.now',
  agent: 'Adjutant, an agent with the digest',
  agents: 'Adjutant, twenty agents at once with the digest',
};
export type Runs = keyof typeof RUNS;

export interface AdjutantOptions {
  /** Used and kept. Default: a folder of its own, which is removed. */
  home?: string;
  under?: string[];
  /** Of another build. */
  entry?: string[];
  /** In the name. */
  label?: string;
}

/**
 * The daemon with one hook. `held`: its runs wait for a target that does not answer, as runs wait
 * for a model, so that the receiver is measured. `notify`: each ends with its delivery. `judged`:
 * each is queued, since the hook has a condition. `tool`: each calls a tool. `agent`,
 * `agents`: each spawns an agent that the built-in digest answers, two at once as a hook has it by
 * default, or twenty.
 */
export const startAdjutant = async (
  runs: Runs,
  { home: kept, under, entry, label }: AdjutantOptions = {},
): Promise<Contender> => {
  const silent = await startSilent();
  const contender = await onScratch(
    async (home) =>
      startDaemon({
        home,
        env: { ADJUTANT_EGRESS_ALLOW: `127.0.0.1:${silent.port}` },
        ...(under && { under }),
        ...(entry && { entry }),
      }),
    RUNS[runs] + (label === undefined ? '' : ` (${label})`),
    kept,
  );
  const owner = await registerOwner(contender.daemon.url);
  await addHook(owner, {
    name: 'bench',
    path: 'bench',
    secret: SECRET,
    ...actionOf(runs, silent.port),
  });
  return {
    ...contender,
    ...(runs !== 'held' && { hasRun: () => allRun(join(contender.home, 'adjutant.db')) }),
    stop: async () => {
      await contender.stop();
      silent.close();
    },
  };
};

const AGENT = {
  action: 'spawn_agent' as const,
  actionConfig: { agentPrompt: 'What is this about?' },
};

const actionOf = (
  runs: Runs,
  port: number,
): Pick<NewHook, 'action' | 'actionConfig' | 'conditions' | 'concurrency'> => {
  const conditions = [{ field: 'webhook.body.action', operator: 'exists' as const }];
  const actionConfig = { notifyMessage: '{{webhook.body.action}}' };
  switch (runs) {
    case 'held':
      return { action: 'webhook', actionConfig: { webhookUrl: `http://127.0.0.1:${port}/` } };
    case 'notify':
      return { action: 'notify', actionConfig };
    case 'judged':
      return { action: 'notify', actionConfig, conditions };
    case 'tool':
      return { action: 'execute_tool', actionConfig: { toolId: 'time', toolAction: 'now' } };
    case 'agent':
      return AGENT;
    case 'agents':
      return { ...AGENT, concurrency: 20 };
  }
};

const LOOK_MS = 10;

/** Resolves when no execution and no job waits in the database. */
export const allRun = async (file: string): Promise<void> => {
  const db = new Database(file, { readonly: true });
  const waits = db.prepare(
    `SELECT 1 WHERE EXISTS (SELECT 1 FROM executions WHERE run_at IS NOT NULL)
       OR EXISTS (SELECT 1 FROM jobs)`,
  );
  while (waits.get() !== undefined) await pause(LOOK_MS);
  db.close();
};

const onScratch = async (
  start: (home: string) => Promise<Daemon>,
  name: string,
  kept?: string,
): Promise<Contender & { home: string }> => {
  const home = kept ?? (await mkdtemp(join(tmpdir(), 'adjutant-bench-')));
  const daemon = await start(home);
  return {
    name,
    home,
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
