import type {
  AccessToken,
  Account,
  Agent,
  ApprovalReply,
  AuditEntry,
  ConversationMessage,
  Credential,
  Execution,
  Hook,
  LogEntry,
  LoginSession,
  ModelView,
  Notification,
  TunnelView,
} from '../../src/client/index.js';
import type { Thing } from './things.js';

/** The only row of its list. */
export const TUNNEL = 'tunnel';

/** The rows of each list. */
export interface RowOf {
  hooks: Hook;
  executions: Execution;
  approvals: ApprovalReply;
  agents: Agent;
  /** One agent and all under it. */
  tree: Agent;
  /** Of one session. */
  messages: ConversationMessage;
  notifications: Notification;
  credentials: Credential;
  models: ModelView;
  clitools: CliToolItem;
  users: Account;
  routes: RouteItem;
  audit: AuditEntry;
  logins: LoginSession;
  tokens: AccessToken;
  /** From one level on. */
  logs: LogRow;
  /** One row: there is one tunnel. */
  tunnel: TunnelView & { id: typeof TUNNEL };
  /** Of any resource that has no screen of its own. */
  things: Thing;
}

/** A line of the daemon's log, or those that it held no more when they were asked for. */
export type LogRow = { id: string } & (
  | { is: 'line'; entry: LogEntry }
  | { is: 'gap'; from: number; to: number }
);
export type LogLevel = LogEntry['level'];

/** A command-line tool that can be a model, and what it told of its quota. */
export interface CliToolItem {
  id: string;
  name: string;
  /** null: it is not installed. */
  path: string | null;
  version: string | null;
  /** It runs confined. */
  isRunnable: boolean;
  isLoggedIn: boolean;
  /** `used` of `limit`, or a part where that is 1. */
  quota: {
    used: number | null;
    limit: number | null;
    resetsAt: string | null;
    exhausted: boolean | null;
  } | null;
}

/** Which models answer for a topic, in the order in which they are asked. */
export interface RouteItem {
  id: string;
  topic: string;
  models: string[];
}
export type ListName = keyof RowOf;

/** Why something could not be read. */
export interface Trouble {
  /** 0: no answer came. */
  status: number;
  message: string;
  requestId?: string;
}

/** What is known of one resource. */
export interface ListState<T> {
  /** What the rows belong to: the hook of executions. */
  of: string | null;
  order: readonly string[];
  byId: Readonly<Record<string, T>>;
  nextCursor: string | null;
  /** Milliseconds since 1970; null: never. */
  loadedAt: number | null;
  /** Since when an answer is waited for. */
  askedAt: number | null;
  /** Of the newest question: answers to older ones are dropped. */
  generation: number;
  trouble: Trouble | null;
  /** What is being done to a row, in a word: `disabling…`. */
  busy: Readonly<Record<string, string>>;
}
export type Lists = { [N in ListName]: ListState<RowOf[N]> };

export type ListChange<T> =
  | { do: 'ask'; of: string | null; generation: number; at: number }
  | {
      do: 'load';
      generation: number;
      rows: T[];
      nextCursor: string | null;
      at: number;
      /** What was read below them before stays, where it still joins. */
      keepsBelow?: boolean;
    }
  /** The rows go on where those that are known end. */
  | {
      do: 'more';
      generation: number;
      rows: T[];
      nextCursor: string | null;
      /** Where there is too much, what is above goes, else what would come. */
      keepsNewest?: boolean;
    }
  | { do: 'fail'; generation: number; trouble: Trouble }
  /** As of now; a row that is not known yet comes first, or `isBelow` last. */
  | { do: 'put'; row: T; isBelow?: boolean }
  | { do: 'drop'; id: string }
  | { do: 'busy'; id: string; word: string | null };

export type ListAction<N extends ListName = ListName> = {
  [P in N]: { type: 'list'; name: P; change: ListChange<RowOf[P]> };
}[N];

/** Of any list; what is below is read again when it is wanted. */
const MOST_ROWS = 1000;

const none = {
  of: null,
  order: [],
  byId: {},
  nextCursor: null,
  loadedAt: null,
  askedAt: null,
  generation: 0,
  trouble: null,
  busy: {},
};

export const lists = (): Lists => ({
  hooks: none,
  executions: none,
  approvals: none,
  agents: none,
  tree: none,
  messages: none,
  notifications: none,
  credentials: none,
  models: none,
  clitools: none,
  users: none,
  routes: none,
  audit: none,
  logins: none,
  tokens: none,
  logs: none,
  tunnel: none,
  things: none,
});

export const reduceLists = <N extends ListName>(state: Lists, action: ListAction<N>): Lists => ({
  ...state,
  [action.name]: changed(state[action.name], action.change),
});

/** What names a row for good: models have no id. */
const idOf = (row: { id?: string; name?: string }): string => row.id ?? row.name ?? '';

/** No more rows are kept than these. */
export const isFull = ({ order }: ListState<unknown>): boolean => order.length >= MOST_ROWS;

/** The rows in their order. */
export const rowsOf = <T>({ order, byId }: ListState<T>): T[] =>
  order.flatMap((id) => byId[id] ?? []);

const changed = <T extends { id?: string; name?: string }>(
  list: ListState<T>,
  change: ListChange<T>,
): ListState<T> => {
  if ('generation' in change && change.do !== 'ask' && change.generation !== list.generation) {
    return list;
  }
  switch (change.do) {
    case 'ask':
      return asked(list, change);
    case 'load':
      return { ...loaded(list, change), loadedAt: change.at };
    case 'more':
      return {
        ...extended(list, change.rows, change.keepsNewest === true),
        nextCursor: change.nextCursor,
      };
    case 'fail':
      return { ...list, askedAt: null, trouble: change.trouble };
    case 'put':
      return put(list, change.row, change.isBelow === true);
    case 'drop':
      return dropped(list, change.id);
    case 'busy':
      return { ...list, busy: marked(list.busy, change.id, change.word) };
  }
};

/** Rows of another parent are not those that were asked for. */
const asked = <T>(
  list: ListState<T>,
  { of, generation, at }: { of: string | null; generation: number; at: number },
): ListState<T> => {
  const kept = of === list.of ? list : { ...none, of };
  return { ...kept, generation, askedAt: at };
};

const byIdOf = <T extends { id?: string; name?: string }>(rows: T[]): Record<string, T> =>
  Object.fromEntries(rows.map((row) => [idOf(row), row]));

const loaded = <T extends { id?: string; name?: string }>(
  list: ListState<T>,
  { rows, nextCursor, keepsBelow = false }: Extract<ListChange<T>, { do: 'load' }>,
): ListState<T> => {
  const order = rows.map(idOf);
  const byId = byIdOf(rows);
  const fresh = { ...list, order, byId, nextCursor, askedAt: null, trouble: null };
  const end = keepsBelow && nextCursor !== null ? list.order.indexOf(order.at(-1) ?? '') : -1;
  const below = end < 0 ? [] : list.order.slice(end + 1).filter((id) => !(id in byId));
  if (below.length === 0) return fresh;
  const all = [...order, ...below].slice(0, MOST_ROWS);
  const kept = among(all, { ...list.byId, ...byId });
  return { ...fresh, order: all, byId: kept, nextCursor: list.nextCursor };
};

const among = <T>(order: readonly string[], known: Record<string, T>): Record<string, T> =>
  Object.fromEntries(order.flatMap((id) => (known[id] ? [[id, known[id]]] : [])));

const extended = <T extends { id?: string; name?: string }>(
  list: ListState<T>,
  rows: T[],
  keepsNewest: boolean,
): ListState<T> => {
  const added = rows.map(idOf).filter((id) => !(id in list.byId));
  if (added.length === 0 && keepsNewest) return { ...list, trouble: null };
  const all = [...list.order, ...added];
  const order = keepsNewest ? all.slice(-MOST_ROWS) : all.slice(0, MOST_ROWS);
  const known = { ...list.byId, ...byIdOf(rows) };
  return { ...list, order, byId: among(order, known), askedAt: null, trouble: null };
};

const put = <T extends { id?: string; name?: string }>(
  list: ListState<T>,
  row: T,
  isBelow: boolean,
): ListState<T> => {
  const id = idOf(row);
  const byId = { ...list.byId, [id]: row };
  if (id in list.byId) return { ...list, byId };
  const order = isBelow ? [...list.order, id] : [id, ...list.order];
  const [kept, gone] = [order.slice(0, MOST_ROWS), order.slice(MOST_ROWS)];
  for (const each of gone) delete byId[each];
  return { ...list, byId, order: kept };
};

const dropped = <T>(list: ListState<T>, id: string): ListState<T> => {
  const { [id]: gone, ...byId } = list.byId;
  if (gone === undefined) return list;
  return { ...list, byId, order: list.order.filter((each) => each !== id) };
};

const marked = (
  busy: Readonly<Record<string, string>>,
  id: string,
  word: string | null,
): Record<string, string> => {
  const { [id]: _, ...rest } = busy;
  return word === null ? rest : { ...rest, [id]: word };
};
