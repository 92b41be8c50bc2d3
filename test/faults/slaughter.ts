import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { addHook, registerOwner } from '../harness/account.js';
import { type Daemon, startDaemon } from '../harness/daemon.js';
import { endedOf, type Ledger, readLedger } from './ledger.js';
import { type Senders, startSenders } from './senders.js';
import { type Sink, startSink } from './sink.js';

export interface Toll {
  kills: number;
  acknowledged: number;
  /** Executions that were acknowledged and are not there. */
  lost: string[];
  /** Executions without an end, though nothing happens any more. */
  stuck: string[];
  /** Executions whose end was recorded before a kill and is another now. */
  changed: string[];
  /** Executions whose effect came once more after their end was recorded. */
  repeated: string[];
  /** Effects that came twice: the kill fell between the sink's answer and the record. */
  twice: number;
  interrupted: number;
  unfinishedAgents: number;
  doubledAgents: number;
  jobs: number;
  /** Notifications of hooks beyond or short of their runs that ended well. */
  notices: number;
  integrity: string;
  /** Milliseconds from start to ready, the longest. */
  slowestStart: number;
}

const SECRET = 'a secret of the slaughter';
/** The longest that a life is prolonged for its share. */
const SLOWEST_MS = 10_000;
const PATHS = ['spawn', 'notify', 'batch', 'forward', 'tool'];

export interface Slaughter {
  kills: number;
  /** The daemon is killed at a random moment within this. */
  longestLifeMs: number;
  /**
   * The number of deliveries to acknowledge in all. Where the machine is too slow for that, a life
   * lasts until its share of them is acknowledged.
   */
  leastAcknowledged: number;
  random(): number;
}

/** Kills the daemon under load at random moments, then lets it finish and counts. */
export const slaughter = async ({
  kills,
  longestLifeMs,
  leastAcknowledged,
  random,
}: Slaughter): Promise<Toll> => {
  const home = await mkdtemp(join(tmpdir(), 'adjutant-kills-'));
  const sink = await startSink();
  const env = {
    ADJUTANT_EGRESS_ALLOW: `127.0.0.1:${sink.port}`,
    ADJUTANT_HOOK_CONCURRENCY: '8',
    ADJUTANT_JOB_CONCURRENCY: '32',
  };
  let daemon = await startDaemon({ home, env });
  await addHooks(daemon, sink.port);
  const load = { paths: PATHS, secret: SECRET, connections: 8 };
  const senders = startSenders({ url: () => daemon.url, ...load });
  const seen: Seen = { ends: new Map(), effects: new Map() };
  let slowestStart = 0;
  try {
    for (let kill = 0; kill < kills; kill++) {
      await wait(random() * longestLifeMs);
      const share = (leastAcknowledged * (kill + 1)) / kills;
      const slowest = Date.now() + SLOWEST_MS;
      while (senders.acknowledged.length < share && Date.now() < slowest) await wait(random() * 50);
      await daemon.end('SIGKILL');
      remember(seen, readLedger(home), sink);
      daemon = await startDaemon({ home, env });
      slowestStart = Math.max(slowestStart, Math.round(daemon.readyMs));
    }
    await senders.stop();
    const counted = count(await finished(home), { senders, sink, seen });
    return { kills, ...counted, slowestStart };
  } finally {
    await senders.stop();
    await daemon.end('SIGKILL');
    sink.close();
    await rm(home, { recursive: true });
  }
};

/** The ends that were recorded before a kill, and how many effects each run had had by then. */
interface Seen {
  ends: Map<string, string>;
  effects: Map<string, number>;
}

const remember = (seen: Seen, ledger: Ledger, sink: Sink): void => {
  for (const [id, end] of endedOf(ledger)) {
    if (seen.ends.has(id)) continue;
    seen.ends.set(id, end);
    seen.effects.set(id, sink.effects.get(id) ?? 0);
  }
};

const count = (
  ledger: Ledger,
  { senders, sink, seen }: { senders: Senders; sink: Sink; seen: Seen },
): Omit<Toll, 'kills' | 'slowestStart'> => {
  const ended = endedOf(ledger);
  const acknowledged = senders.acknowledged.flatMap(({ executions }) => executions);
  const all = [...ledger.executions];
  return {
    acknowledged: senders.acknowledged.length,
    lost: acknowledged.filter((id) => !ledger.executions.has(id)),
    stuck: all.flatMap(([id]) => (ended.has(id) ? [] : [id])),
    changed: [...seen.ends].flatMap(([id, end]) => (ended.get(id) === end ? [] : [id])),
    repeated: [...seen.effects].flatMap(([id, before]) =>
      (sink.effects.get(id) ?? 0) === before ? [] : [id],
    ),
    twice: [...sink.effects.values()].filter((times) => times > 1).length,
    interrupted: all.filter(([, { status }]) => status === 'interrupted').length,
    unfinishedAgents: ledger.unfinished,
    doubledAgents: ledger.doubled,
    jobs: ledger.jobs,
    notices: ledger.notices - all.filter(([, run]) => isNotified(run)).length,
    integrity: ledger.integrity,
  };
};

const isNotified = ({ action, status }: { action: string; status: string }): boolean =>
  action === 'notify' && status === 'success';

const addHooks = async ({ url }: Daemon, sinkPort: number): Promise<void> => {
  const owner = await registerOwner(url);
  const hook = { secret: SECRET };
  const add = (
    path: string,
    action: Parameters<typeof addHook>[1]['action'],
    actionConfig: Record<string, unknown>,
    conditions?: Parameters<typeof addHook>[1]['conditions'],
  ) => addHook(owner, { ...hook, name: path, path, action, actionConfig, conditions });
  await add('spawn', 'spawn_agent', { agentPrompt: 'What is this about?' });
  await add('notify', 'notify', { notifyMessage: 'Issue {{webhook.body.n}}' });
  // With a condition it is queued, and runs in batches.
  const isThere = { field: 'webhook.body.n', operator: 'exists' as const };
  await add('batch', 'notify', { notifyMessage: 'Issue {{webhook.body.n}}' }, [isThere]);
  await add('forward', 'webhook', { webhookUrl: `http://127.0.0.1:${sinkPort}/` });
  await add('tool', 'execute_tool', { toolId: 'time', toolAction: 'now', toolParams: {} });
};

/** Waits until nothing happens any more; as it is then, if that takes too long. */
const finished = async (home: string): Promise<Ledger> => {
  const end = Date.now() + 120_000;
  while (true) {
    const ledger = readLedger(home);
    if (ledger.jobs === 0 || Date.now() > end) return ledger;
    await wait(250);
  }
};
