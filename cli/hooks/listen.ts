import type { Client } from '../../src/client/index.js';
import { now } from '../clock.js';
import { command } from '../command.js';
import type { Context } from '../context.js';
import { interrupted } from '../exit.js';
import { cell, cutToWidth, oneLine, padded } from '../text.js';
import { duration, localTime } from '../times.js';
import { executionGist, hookCrud } from './columns.js';
import {
  BEFORE_ALL,
  type ExecutionChange,
  followRuns,
  isExecutionOver,
  type RunNote,
} from './live.js';

export const listenHooks = command({
  name: 'listen',
  args: '[hook]',
  calls: ['hooks listen'],
  summary: 'Runs as they come, of one hook or of all',
  examples: ['', 'github-issues', '--json | jq .status'],
  notes: [
    'It goes on until ^C, through lost connections; what it missed meanwhile comes afterwards.',
    'In a pipe: one line a change, its notes on stderr; with --json one run a line.',
  ],
  seeAlso: 'adjutant hooks executions, adjutant hooks send',
  run: async (context, { args }) => {
    const client = await context.listener();
    const hook = args.hook === undefined ? undefined : await hookCrud.id(client, args.hook);
    const { lastId } = await client.hooks.listen();
    const names = await namesOf(client);
    const of = hook === undefined ? 'all hooks' : (names.get(hook) ?? hook);
    const newest = lastId === null ? 'no run yet' : `newest ${lastId.slice(-6)}`;
    const listening = `Listening to ${oneLine(of)}, ${newest}. ^C ends; executions go on.`;
    const tally = new ExecutionTally();
    try {
      for await (const note of followRuns(context, client, lastId ?? BEFORE_ALL)) {
        if (note.type === 'listening') context.out.note(listening);
        else if (note.type !== 'change') context.out.note(`-- ${remark(note)} --`);
        else if (hook === undefined || note.change.hookId === hook) {
          tally.count(note.change);
          await print(context, client, { change: note.change, names, isAll: hook === undefined });
        }
      }
    } catch (error) {
      if (!context.signal.aborted) throw error;
      throw interrupted(tally.summary);
    }
  },
});

interface Printed {
  change: ExecutionChange;
  names: Map<string, string>;
  /** True for several hooks: each line names its own. */
  isAll: boolean;
}

const print = async (context: Context, client: Client, { change, names, isAll }: Printed) => {
  const { out } = context;
  const { id, hookId: hook, status, event, agentId } = change;
  if (out.format === 'id') return out.line(id);
  if (out.format === 'tsv') {
    const values = [change.at, status, event, agentId, id, names.get(hook), change.error];
    return out.line(values.map(cell).join('\t'));
  }
  // A change is only told; the whole run is asked for.
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

const remark = (note: Extract<RunNote, { type: 'lost' | 'back' }>): string => {
  const at = localTime(new Date(now()).toISOString());
  if (note.type === 'lost') return `lost the daemon ${at} (${note.reason}), trying`;
  return `back ${at}, ${note.caughtUp} caught up, none missing`;
};

const namesOf = async (client: Client): Promise<Map<string, string>> => {
  const { hooks } = await client.hooks.list({ query: { limit: 200 } });
  return new Map(hooks.map(({ id, name }) => [id, name]));
};

/** Counts executions by status. */
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
    return `${total} execution${total === 1 ? '' : 's'}${parts && `: ${parts}`}`;
  }
}
