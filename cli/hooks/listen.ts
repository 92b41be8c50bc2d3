import type { Client, Execution } from '../../src/client/index.js';
import { type Context, command } from '../command.js';
import { interrupted } from '../exit.js';
import { connectionRemark, followRows } from '../live.js';
import { cell, cutToWidth, duration, formatCount, localTime, oneLine, padded } from '../text.js';
import { executionGist, hookCrud } from './hook.js';

/** A change of an execution, from `/ws` or from polling. */
export interface ExecutionChange {
  id: string;
  hookId: string;
  status: Execution['status'];
  event: string | null;
  agentId: string | null;
  error: string | null;
  at: string;
}

const KEPT = 5000;

/** An id that sorts before that of every execution. */
const BEFORE_ALL = 'execution_00000000000000000000000000';

/**
 * Yields every change of the executions that begin after `newest`. Their ids are in order, so
 * none is missed or yielded twice.
 */
const followRuns = (context: Context, client: Client, newest: string) => {
  const known = new Map<string, ExecutionChange>();
  let last = newest;
  const isNew = (change: ExecutionChange): boolean => {
    const before = known.get(change.id);
    // Polled changes may be newer than frames that were buffered in the meantime.
    const isOld = before && (isExecutionOver(before) || before.status === change.status);
    if (change.id <= newest || isOld) return false;
    known.set(change.id, change);
    if (known.size > KEPT) known.delete(known.keys().next().value ?? '');
    if (change.id > last) last = change.id;
    return true;
  };
  const missed = () => missedBy(client, last, [...known.values()]);
  return followRows(context, { channel: 'hook.execution', isRow: isChange, isNew, missed });
};

/**
 * Reads the executions that began in the meantime, and the current state of those that were
 * running.
 */
const missedBy = async (
  client: Client,
  last: string,
  known: ExecutionChange[],
): Promise<ExecutionChange[]> => {
  const open = known.filter((change) => !isExecutionOver(change));
  const again = await Promise.all(
    open.map(({ hookId, id }) => client.hooks.execution({ id: hookId, executionId: id })),
  );
  const begun: Execution[] = [];
  for (let after: string | null = last; after !== null; ) {
    const page = await client.hooks.listen({ query: { after, limit: 200 } });
    begun.push(...page.executions);
    after = page.executions.length === 200 ? page.lastId : null;
  }
  return [...again, ...begun].map(toExecutionChange);
};

const isExecutionOver = ({ status }: Pick<ExecutionChange, 'status'>): boolean =>
  status !== 'queued' && status !== 'running';

const toExecutionChange = (run: Execution): ExecutionChange => ({
  id: run.id,
  hookId: run.hookId,
  status: run.status,
  event: run.triggerContext.event,
  agentId: run.agentId,
  error: run.error,
  at: run.finishedAt ?? run.startedAt ?? run.createdAt,
});

const isChange = (data: unknown): data is ExecutionChange =>
  typeof data === 'object' && data !== null && 'hookId' in data && 'status' in data;

export const listenHooks = command({
  name: 'listen',
  args: '[hook]',
  calls: ['hooks listen'],
  summary: 'Stream hook executions',
  examples: ['', 'github-issues', '--json | jq .status'],
  notes: [
    'Runs until ^C, also across lost connections. Missed changes are printed afterwards.',
    'In a pipe: one line per change; notes go to stderr. With --json: one execution per line.',
  ],
  seeAlso: 'adjutant hooks executions, adjutant hooks send',
  run: async (context, { args }) => {
    const client = await context.listener();
    const hook = args.hook === undefined ? undefined : await hookCrud.id(client, args.hook);
    const { lastId } = await client.hooks.listen();
    const names = await fetchHookNames(client);
    const of = hook === undefined ? 'all hooks' : (names.get(hook) ?? hook);
    const newest = lastId === null ? 'no execution yet' : `newest ${lastId.slice(-6)}`;
    const listening = `Listening to ${oneLine(of)}, ${newest}. ^C exits; executions continue.`;
    const tally = new ExecutionTally();
    try {
      for await (const note of followRuns(context, client, lastId ?? BEFORE_ALL)) {
        if (note.type === 'listening') context.out.note(listening);
        else if (note.type !== 'row') context.out.note(connectionRemark(note));
        else if (hook === undefined || note.row.hookId === hook) {
          tally.count(note.row);
          await print(context, client, { change: note.row, names, isAll: hook === undefined });
        }
      }
    } catch (error) {
      if (!context.signal.aborted) throw error;
      throw interrupted(tally.summary);
    }
  },
});

interface PrintedChange {
  change: ExecutionChange;
  names: Map<string, string>;
  /** Whether each line names its hook, because there are several. */
  isAll: boolean;
}

const print = async (context: Context, client: Client, { change, names, isAll }: PrintedChange) => {
  const { out } = context;
  const { id, hookId: hook, status, event, agentId } = change;
  if (out.format === 'id') return out.line(id);
  if (out.format === 'tsv') {
    const values = [change.at, status, event, agentId, id, names.get(hook), change.error];
    return out.line(values.map(cell).join('\t'));
  }
  // A change is only a summary, so the full execution is requested.
  const run = await client.hooks.execution({ id: hook, executionId: id });
  if (out.format === 'json') return out.json(run);
  const columns: [string, number][] = [
    [localTime(change.at), 8],
    ...(isAll ? [[oneLine(names.get(hook) ?? hook), 18] satisfies [string, number]] : []),
    [oneLine(event ?? run.trigger), 18],
    [status, 11],
  ];
  const took =
    status === 'running' || run.durationMs === null ? '' : `${duration(run.durationMs)}  `;
  const row = columns.map(([value, width]) => padded(value, width)).join('  ');
  out.line(cutToWidth(`${row}  ${took}${oneLine(executionGist(run))}`.trimEnd(), out.width));
};

const fetchHookNames = async (client: Client): Promise<Map<string, string>> => {
  const { hooks } = await client.hooks.list({ query: { limit: 200 } });
  return new Map(hooks.map(({ id, name }) => [id, name]));
};

class ExecutionTally {
  private readonly open = new Map<string, string>();
  private readonly ended = new Map<string, number>();

  count(change: ExecutionChange): void {
    if (!isExecutionOver(change)) {
      this.open.set(change.id, change.status);
      return;
    }
    this.open.delete(change.id);
    this.ended.set(change.status, (this.ended.get(change.status) ?? 0) + 1);
  }

  /** `5 executions: 2 running, 1 success` */
  get summary(): string {
    const counts = new Map(this.ended);
    for (const status of this.open.values()) counts.set(status, (counts.get(status) ?? 0) + 1);
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
    const parts = [...counts].map(([status, count]) => `${count} ${status}`).join(', ');
    return `${formatCount(total, 'execution')}${parts && `: ${parts}`}`;
  }
}
