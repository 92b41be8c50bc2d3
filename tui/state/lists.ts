import type { ListName, RowOf } from './rows.js';

export interface LoadFailure {
  /** Status code of the reply. 0 without a reply. */
  status: number;
  message: string;
  requestId?: string;
}

/** Content of a row. An unknown row becomes the first, or with `isBelow` the last. */
interface PutRow<T> {
  row: T;
  isBelow?: boolean;
}

export interface ListState<T> {
  /** Id of the parent, such as the hook of executions. */
  of: string | null;
  order: readonly string[];
  byId: Readonly<Record<string, T>>;
  nextCursor: string | null;
  /** Time of the last load, in milliseconds since 1970. `null` if there was none. */
  loadedAt: number | null;
  /** Time of the pending request, in milliseconds since 1970. `null` if there is none. */
  askedAt: number | null;
  /** Rows put since the pending request. Its reply may not contain them. */
  since: readonly PutRow<T>[];
  /** Number of the newest request. Replies to older ones are dropped. */
  generation: number;
  trouble: LoadFailure | null;
  /** Action in progress on each row: `disabling…`. */
  busy: Readonly<Record<string, string>>;
}
export type Lists = { [N in ListName]: ListState<RowOf[N]> };

/** `keepsRows`: rows of another parent stay until the reply arrives. */
interface AskedRows {
  do: 'ask';
  of: string | null;
  generation: number;
  at: number;
  keepsRows?: boolean;
}

export type ListChange<T> =
  | AskedRows
  | {
      do: 'load';
      generation: number;
      rows: T[];
      nextCursor: string | null;
      at: number;
      /** Whether previously loaded rows below are kept, if the two parts still join. */
      keepsBelow?: boolean;
      /** Whether the rows are added to the known ones, whatever was requested since. */
      isAdded?: boolean;
    }
  /** Rows that follow the last known one. */
  | {
      do: 'more';
      generation: number;
      rows: T[];
      nextCursor: string | null;
      /**
       * Whether the oldest rows are dropped when there are too many. Otherwise the new ones are.
       */
      keepsNewest?: boolean;
    }
  | { do: 'fail'; generation: number; trouble: LoadFailure }
  | ({ do: 'put' } & PutRow<T>)
  | { do: 'drop'; id: string }
  | { do: 'busy'; id: string; word: string | null };

export interface ListAction<N extends ListName = ListName> {
  type: 'list';
  name: N;
  change: ListChange<RowOf[N]>;
}

/** Maximum rows of a list. Further rows are loaded again when needed. */
const MAX_ROWS = 1000;

const none = {
  of: null,
  order: [],
  byId: {},
  nextCursor: null,
  loadedAt: null,
  askedAt: null,
  since: [],
  generation: 0,
  trouble: null,
  busy: {},
};

const EMPTY: Lists = {
  hooks: none,
  executions: none,
  replies: none,
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
  operations: none,
  entries: none,
  found: none,
  chunks: none,
  documentPages: none,
  reports: none,
  answers: none,
  tasks: none,
  parts: none,
  parents: none,
  runs: none,
  templates: none,
  stages: none,
  capabilities: none,
  hardware: none,
  mails: none,
  threadMails: none,
  wholeMails: none,
  drafts: none,
  sentMails: none,
  wholeSentMails: none,
  mailAccounts: none,
  orgs: none,
  waitingOrgs: none,
  orgMembers: none,
  orgInvites: none,
  orgSettings: none,
  things: none,
};

export const lists = (): Lists => EMPTY;

export const reduceLists = <N extends ListName>(state: Lists, action: ListAction<N>): Lists => ({
  ...state,
  [action.name]: changed(state[action.name], action.change),
});

/** Models have no id, but a name. */
interface Identified {
  id?: string;
  name?: string;
}
const getId = ({ id, name }: Identified): string => id ?? name ?? '';

/** Whether the list holds its maximum of rows. */
export const isFull = ({ order }: ListState<unknown>): boolean => order.length >= MAX_ROWS;

export const listRows = <T>({ order, byId }: ListState<T>): T[] =>
  order.flatMap((id) => byId[id] ?? []);

const changed = <T extends Identified>(list: ListState<T>, change: ListChange<T>): ListState<T> => {
  if (change.do === 'load' && change.isAdded) return joined(list, change);
  if ('generation' in change && change.do !== 'ask' && change.generation !== list.generation) {
    return list;
  }
  switch (change.do) {
    case 'ask':
      return asked(list, change);
    case 'load':
      return { ...list.since.reduce(put, loaded(list, change)), since: [], loadedAt: change.at };
    case 'more':
      return {
        ...extended(list, change.rows, change.keepsNewest === true),
        nextCursor: change.nextCursor,
      };
    case 'fail':
      return { ...list, askedAt: null, trouble: change.trouble };
    case 'put':
      return { ...put(list, change), since: sinceAsked(list, change) };
    case 'drop':
      return dropped(list, change.id);
    case 'busy':
      return { ...list, busy: marked(list.busy, change.id, change.word) };
  }
};

/** Rows of another parent are dropped, unless the request keeps them. */
const asked = <T>(
  list: ListState<T>,
  { of, generation, at, keepsRows = false }: AskedRows,
): ListState<T> => {
  const other = keepsRows ? { ...list, of, trouble: null } : { ...none, of };
  const kept = of === list.of ? list : other;
  return { ...kept, generation, askedAt: at, since: [] };
};

const indexById = <T extends Identified>(rows: T[]): Record<string, T> =>
  Object.fromEntries(rows.map((row) => [getId(row), row]));

const loaded = <T extends Identified>(
  list: ListState<T>,
  { rows, nextCursor, keepsBelow = false }: Extract<ListChange<T>, { do: 'load' }>,
): ListState<T> => {
  const order = rows.map(getId);
  const byId = indexById(rows);
  const fresh = { ...list, order, byId, nextCursor, askedAt: null, trouble: null };
  const end = keepsBelow && nextCursor !== null ? list.order.indexOf(order.at(-1) ?? '') : -1;
  const below = end < 0 ? [] : list.order.slice(end + 1).filter((id) => !(id in byId));
  if (below.length === 0) return fresh;
  const all = [...order, ...below].slice(0, MAX_ROWS);
  const kept = among(all, { ...list.byId, ...byId });
  return { ...fresh, order: all, byId: kept, nextCursor: list.nextCursor };
};

const joined = <T extends Identified>(
  list: ListState<T>,
  { rows, generation, at }: Extract<ListChange<T>, { do: 'load' }>,
): ListState<T> => {
  const all = rows.map((row) => ({ row })).reduce(put, list);
  const isLast = generation === list.generation;
  return { ...all, loadedAt: at, ...(isLast && { askedAt: null, trouble: null }) };
};

const among = <T>(order: readonly string[], known: Record<string, T>): Record<string, T> =>
  Object.fromEntries(order.flatMap((id) => (known[id] ? [[id, known[id]]] : [])));

const extended = <T extends Identified>(
  list: ListState<T>,
  rows: T[],
  keepsNewest: boolean,
): ListState<T> => {
  const added = rows.map(getId).filter((id) => !(id in list.byId));
  if (added.length === 0 && keepsNewest) return { ...list, trouble: null };
  const all = [...list.order, ...added];
  const order = keepsNewest ? all.slice(-MAX_ROWS) : all.slice(0, MAX_ROWS);
  const known = { ...list.byId, ...indexById(rows) };
  return { ...list, order, byId: among(order, known), askedAt: null, trouble: null };
};

const put = <T extends Identified>(
  list: ListState<T>,
  { row, isBelow = false }: PutRow<T>,
): ListState<T> => {
  const id = getId(row);
  const byId = { ...list.byId, [id]: row };
  if (id in list.byId) return { ...list, byId };
  const order = isBelow ? [...list.order, id] : [id, ...list.order];
  const [kept, gone] = [order.slice(0, MAX_ROWS), order.slice(MAX_ROWS)];
  for (const each of gone) delete byId[each];
  return { ...list, byId, order: kept };
};

/** Rows put since the pending request. None without one. */
const sinceAsked = <T>({ askedAt, since }: ListState<T>, row: PutRow<T>): readonly PutRow<T>[] =>
  askedAt === null ? [] : [...since, row].slice(-MAX_ROWS);

const dropped = <T extends Identified>(list: ListState<T>, id: string): ListState<T> => {
  const { [id]: gone, ...byId } = list.byId;
  if (gone === undefined) return list;
  const since = list.since.filter(({ row }) => getId(row) !== id);
  return { ...list, byId, order: list.order.filter((each) => each !== id), since };
};

const marked = (
  busy: Readonly<Record<string, string>>,
  id: string,
  word: string | null,
): Record<string, string> => {
  const { [id]: _, ...rest } = busy;
  return word === null ? rest : { ...rest, [id]: word };
};
