import { type Client, contracts, type Execution, type Hook } from '../../src/client/index.js';
import { shownAs, type TableColumn, valueAt } from '../columns.js';
import { crud } from '../crud.js';
import { NEWEST_PAGES, resolveId } from '../resolve.js';
import { ago, duration, localTime } from '../times.js';

export const hookTableColumns: TableColumn<Hook>[] = [
  { name: 'id', value: (hook) => hook.id, only: 'data' },
  { name: 'name', value: (hook) => hook.name },
  { name: 'state', value: (hook) => (hook.enabled ? 'enabled' : 'disabled'), isState: true },
  { name: 'trigger', value: (hook) => hook.trigger, only: 'data' },
  { name: 'action', value: (hook) => hook.action },
  { name: 'runs', value: (hook) => hook.stats.executions, isNumber: true },
  {
    name: 'last',
    value: (hook) => hook.stats.lastStatus,
    show: ({ stats }) => lastOf(stats),
    isState: true,
  },
  { name: 'last-at', value: (hook) => hook.stats.lastExecutionAt, only: 'data' },
  { name: 'path', value: (hook) => hook.triggerConfig.webhookPath, show: (hook) => sourceOf(hook) },
];

export const executionTableColumns: TableColumn<Execution>[] = [
  { name: 'id', value: (run) => run.id, only: 'data' },
  shownAs('time', (run) => run.createdAt, localTime),
  { name: 'status', value: (run) => run.status, isState: true },
  { name: 'event', value: (run) => run.triggerContext.event },
  { name: 'took', value: (run) => run.durationMs, show: (run) => tookOf(run), isNumber: true },
  { name: 'short', value: (run) => run.id.slice(-6), only: 'table' },
  { name: 'result', value: (run) => run.error ?? run.result, show: (run) => executionGist(run) },
  { name: 'agent', value: (run) => run.agentId, only: 'data' },
];

/** A hook is known by its id, the end of that, or its name. */
export const hookCrud = crud({
  noun: 'hook',
  rows: 'hooks',
  endpoints: await contracts.hooks(),
  columns: hookTableColumns,
  named: (hook) => hook,
});

/** The run of a hook that was meant by an id or the end of one. */
export const executionId = (client: Client, hook: string, typed: string): Promise<string> =>
  resolveId(typed, {
    noun: 'execution',
    listed: `hooks executions ${hook}`,
    pages: NEWEST_PAGES,
    page: async (cursor) => {
      const query = { limit: 200, cursor };
      const { executions, nextCursor } = await client.hooks.executions({ id: hook, query });
      const rows = executions.map(({ id, createdAt }) => ({ id, name: createdAt }));
      return { rows, nextCursor };
    },
  });

/** The outcome of an execution in one line: its error, or its result. */
export const executionGist = ({
  error,
  result,
  agentId,
}: Pick<Execution, 'error' | 'result' | 'agentId'>) => {
  if (error) return error;
  const text = typeof result === 'string' ? result : valueAt(result, 'text');
  if (typeof text === 'string') return text.split('\n', 1)[0] ?? '';
  if (result !== null) return JSON.stringify(result);
  return agentId ? `agent ${agentId.slice(-6)}` : '';
};

const lastOf = ({ lastStatus, lastExecutionAt }: Hook['stats']): string =>
  lastExecutionAt === null ? 'never' : `${lastStatus}, ${ago(lastExecutionAt)}`;

const sourceOf = ({ trigger, triggerConfig }: Hook): string => {
  if (trigger === 'webhook') return triggerConfig.webhookPath ?? '';
  return trigger === 'schedule' ? (triggerConfig.cron ?? '') : trigger;
};

const tookOf = ({ durationMs }: Execution): string =>
  durationMs === null ? '' : duration(durationMs);
