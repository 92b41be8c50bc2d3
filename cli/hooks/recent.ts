import { type Client, contracts, type ExecutionSummary } from '../../src/client/index.js';
import { buildColumns } from '../columns.js';
import { namePages } from '../pages.js';
import { listCommand, requestCommand } from '../request.js';
import { NEWEST_PAGES, resolveId } from '../resolve.js';
import { executionTableColumns } from './hook.js';

const endpoints = await contracts.executions();

const columns = buildColumns<ExecutionSummary>(
  ['id:data', 'time=createdAt:time', 'hook=hookName', 'status:state', 'event', 'short=id:tail'],
  ['error', 'hook-id=hookId:data', 'agent=agentId:data'],
);

export const recentExecutionsList = listCommand({
  endpoint: endpoints.list,
  name: 'recent',
  summary: 'List executions of all hooks',
  examples: ['', '--status error', '--output id --all'],
  rows: 'executions',
  columns,
  next: ([first]) =>
    first
      ? `Show one in full: adjutant hooks find ${first.id.slice(-6)}`
      : 'No executions. Create a hook: adjutant hooks create',
  seeAlso: 'adjutant hooks find, adjutant hooks executions',
});

const resolveExecutionId = (client: Client, typed: string): Promise<string> =>
  resolveId(typed, {
    noun: 'execution',
    listed: 'hooks recent',
    pages: NEWEST_PAGES,
    page: namePages(
      'executions',
      (query) => client.executions.list({ query }),
      ({ id, createdAt }) => ({ id, name: createdAt }),
    ),
  });

export const findExecutionCommand = requestCommand({
  name: 'find',
  summary: 'Find an execution without naming its hook',
  args: '<execution>',
  endpoint: endpoints.get,
  examples: ['4ew6rt', '4ew6rt --json', '4ew6rt --fields status,error'],
  seeAlso: 'adjutant hooks recent, adjutant hooks execution, adjutant hooks replay',
  at: async (client, { execution }) => ({ id: await resolveExecutionId(client, execution) }),
  show: ({ out }, run) => out.item(run, executionTableColumns),
});
