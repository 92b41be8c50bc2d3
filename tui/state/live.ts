import { isOver } from '../../cli/operations/bar.js';
import { pauseAfter } from '../../src/client/backoff.js';
import {
  type Agent,
  ApiError,
  type Approval,
  type Client,
  isRecord,
  type Notification,
  type Operation,
  Unreachable,
} from '../../src/client/index.js';
import { DELTAS, isTextDelta } from '../../src/client/replytext.js';
import { olderDaemon } from '../../src/client/skew.js';
import { connection, type LiveNote } from '../../src/client/socket.js';
import type { Clock } from '../../src/kernel/clock.js';
import { loadAccount } from './bootstrap.js';
import type { Feed } from './feed.js';
import { createRefresh, type ListRefresh } from './refresh.js';
import type { ListName } from './rows.js';
import type { DeskStore } from './state.js';
import { EXECUTIONS, type StreamEntry } from './streams.js';
import { messageAction } from './ui.js';

export interface LiveDeps {
  client: Client;
  token(): string | undefined;
  store: DeskStore;
  feed: Feed;
  signal: AbortSignal;
  clock: Clock;
}

/** Puts events into the store, and reconnects when the connection is lost. */
export const createLive = (deps: LiveDeps) => {
  const { client, token, store, feed, signal, clock } = deps;
  const { now } = clock;
  const refresh = createRefresh({ clock, ...feed });
  signal.addEventListener('abort', refresh.close, { once: true });
  let hurry = (): void => {};

  const listen = async (isAgain: boolean): Promise<string> => {
    const options = {
      url: client.url,
      token: token(),
      signal,
      clock,
      isLenient: true,
      wanted: { channels: feed.wantedChannels, onChange: feed.onChannels },
    };
    let isFirst = true;
    const stream = connection(options, () => {});
    for (;;) {
      const next = await stream.next();
      if (next.done) return next.value.reason;
      if (next.value.type === 'event') applyFrame(deps, refresh, next.value);
      else {
        await connected(deps, isFirst && isAgain);
        isFirst = false;
      }
    }
  };

  /** Waits that many milliseconds. `null` waits until `tryNow`. */
  const wait = (ms: number | null): Promise<void> =>
    new Promise((resolve) => {
      const cancel = ms === null ? null : clock.after(ms, () => end());
      const end = (): void => {
        cancel?.();
        signal.removeEventListener('abort', end);
        resolve();
      };
      hurry = end;
      signal.addEventListener('abort', end, { once: true });
    });

  /** Runs until the signal aborts. Errors are shown by the session state and not thrown. */
  const run = async (): Promise<void> => {
    let attempt = 0;
    let since = now();
    // Each connection after the first attempt reloads all shown data.
    let isAgain = false;
    while (!signal.aborted) {
      const reason = await connectionEndReason(() => listen(isAgain), deps);
      isAgain = true;
      if (signal.aborted) return;
      if (reason === null) {
        await wait(null);
        continue;
      }
      // A live connection resets the number of attempts.
      if (store.get().session.link.is === 'live') attempt = 0;
      if (attempt === 0) since = now();
      const ms = pauseAfter(client.url, attempt);
      attempt += 1;
      const link = { is: 'lost' as const, since, attempt, nextAt: now() + ms, reason };
      store.dispatch({ type: 'session.linked', link });
      await wait(ms);
    }
  };
  return {
    run,
    /** Connects without waiting for the next attempt. After a refusal, only this retries. */
    tryNow: (): void => hurry(),
  };
};

/** Reason why the connection ended. `null` if the daemon refused it or the desk ends. */
const connectionEndReason = async (
  listen: () => Promise<string>,
  { store, signal }: LiveDeps,
): Promise<string | null> => {
  try {
    return await listen();
  } catch (error) {
    if (signal.aborted) return null;
    if (error instanceof Unreachable) return error.reason;
    if (!(error instanceof ApiError)) throw error;
    store.dispatch({ type: 'ui.said', message: null });
    store.dispatch({
      type: 'session.linked',
      link: { is: 'refused', reason: error.message, isEnded: error.statusCode === 401 },
    });
    return null;
  }
};

/** After subscribing, loads missing data while the socket holds new events. */
const connected = async (deps: LiveDeps, isAgain: boolean): Promise<void> => {
  const { store, feed, client } = deps;
  store.dispatch({ type: 'session.linked', link: { is: 'live' } });
  await feed.agents.catchUp();
  if (!isAgain) return;
  const before = store.get().session.version;
  const version = await loadAccount(client, store);
  await feed.reloadShown();
  // The warning about an older daemon is already shown. Do not replace it.
  if (version !== null && olderDaemon(version, client.url) !== null) return;
  const isOther = version !== null && before !== '' && before !== version;
  const text = isOther
    ? `Connection restored. The daemon is now version ${version}`
    : 'Connection restored. The data was reloaded';
  store.queue(messageAction(text, isOther ? 'warn' : 'ok'));
};

type Heard = Extract<LiveNote, { type: 'event' }>;

const applyFrame = (
  { store, feed, clock: { now } }: LiveDeps,
  refresh: ListRefresh,
  { channel, data }: Heard,
): void => {
  if (!isRecord(data)) return;
  if (channel === 'approval') {
    if (isApproval(data)) {
      store.queue({
        type: 'list',
        name: 'approvals',
        change: { do: 'put', row: data, isBelow: true },
      });
    }
  } else if (channel === 'notification') {
    if (isNotification(data)) {
      store.queue({ type: 'list', name: 'notifications', change: { do: 'put', row: data } });
      listsAfterNotice(data).forEach(refresh.soon);
    }
  } else if (channel === DELTAS) {
    if (isTextDelta(data)) feed.agents.wrote(data);
  } else if (channel === 'hook.execution') {
    const entry = { number: null, at: textIn(data, 'at'), kind: textIn(data, 'status'), data };
    store.queue({ type: 'stream.added', name: EXECUTIONS, entries: [entry] });
  } else if (channel === 'hook.reply') {
    refresh.soon('replies');
  } else if (channel === 'operation.progress') {
    if (isOperation(data)) applyOperation(store, refresh, { operation: data, at: now() });
  } else if (channel === 'task.changed') {
    void feed.reload('tasks');
  } else if (channel === 'pipeline.stage') {
    refresh.soon('runs');
    refresh.soon('stages');
  } else if (channel === 'tunnel.status') {
    void feed.reload('tunnel');
  } else if (channel.startsWith('agent.')) {
    const id = textIn(data, 'agentId');
    const entry = toStreamEntry(channel, data, now);
    feed.agents.told(id, entry);
    if (channel === 'agent.status') move(store, id, entry.data.status);
  }
};

/** Shows the progress of an operation, and reloads lists that its end may have changed. */
const applyOperation = (
  store: DeskStore,
  refresh: ListRefresh,
  connectionEndReason: { operation: Operation; at: number },
): void => {
  store.queue({ type: 'operation.heard', ...connectionEndReason });
  listsAfter(connectionEndReason.operation).forEach(refresh.soon);
};

/** Changes the status of an agent's row at once, if the row is known. */
const move = (store: DeskStore, id: string, told: unknown): void => {
  const row = store.get().lists.agents.byId[id];
  const status = agentStates.find((each) => each === told);
  if (!row || !status) return;
  store.queue({ type: 'list', name: 'agents', change: { do: 'put', row: { ...row, status } } });
};

const agentStates = [
  'queued',
  'running',
  'waiting_approval',
  'paused',
  'completed',
  'failed',
  'stopped',
] as const satisfies readonly Agent['status'][];

const toStreamEntry = (
  kind: string,
  frame: Record<string, unknown>,
  now: () => number,
): StreamEntry => ({
  number: typeof frame.id === 'number' ? frame.id : null,
  at: textIn(frame, 'at') || new Date(now()).toISOString(),
  kind,
  data: isRecord(frame.data) ? frame.data : {},
});

const textIn = (of: Record<string, unknown>, name: string): string => {
  const value = of[name];
  return typeof value === 'string' ? value : '';
};

const isApproval = (row: object): row is Approval =>
  'id' in row && 'digest' in row && 'status' in row && 'arguments' in row;

const isOperation = (row: object): row is Operation =>
  'id' in row && 'kind' in row && 'status' in row && 'progress' in row;

const isNotification = (row: object): row is Notification =>
  'id' in row && 'title' in row && 'body' in row && 'readAt' in row;

/** Lists that changed if somebody else created an organization, or changed the user's membership. */
const listsAfterNotice = ({ kind }: Notification): ListName[] => {
  if (kind === 'org.created') return ['waitingOrgs'];
  return kind === 'org.membership' ? ['orgs', 'orgMembers'] : [];
};

/** Lists that the end of a capability operation may have changed. */
export const listsAfter = (operation: Operation): ListName[] =>
  operation.kind.startsWith('capabilities.') && isOver(operation)
    ? ['capabilities', 'hardware', 'models']
    : [];
