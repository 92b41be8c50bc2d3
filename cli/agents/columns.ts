import { type Agent, contracts } from '../../src/client/index.js';
import { shownAs, type TableColumn } from '../columns.js';
import { crud } from '../crud.js';
import { ago } from '../times.js';

export const agentTableColumns: TableColumn<Agent>[] = [
  { name: 'id', value: (agent) => agent.id, only: 'data' },
  { name: 'name', value: (agent) => agent.name },
  { name: 'status', value: (agent) => agent.status, isState: true },
  { name: 'trust', value: (agent) => trustText(agent), isState: true },
  { name: 'steps', value: (agent) => agent.steps, isNumber: true },
  {
    name: 'cost',
    value: (agent) => agent.usage.costUsd,
    show: (agent) => agentCost(agent),
    isNumber: true,
  },
  shownAs('created', (agent) => agent.createdAt, ago, 'never'),
  { name: 'short', value: (agent) => agent.id.slice(-6), only: 'table' },
  {
    name: 'result',
    value: (agent) => agent.error ?? agent.result,
    show: (agent) => (agent.error ?? agent.result ?? '').split('\n', 1)[0] ?? '',
  },
  { name: 'session', value: (agent) => agent.sessionId, only: 'data' },
];

/** Began with what came from outside, or with what its owner said. */
export const trustText = ({ untrusted }: Agent): string => (untrusted ? 'untrusted' : 'trusted');

export const agentCost = ({ usage }: Agent): string => `$${usage.costUsd.toFixed(2)}`;

/** True when nothing more happens unless somebody asks for it. */
export const isAgentOver = ({ status }: Pick<Agent, 'status'>): boolean =>
  status === 'completed' || status === 'failed' || status === 'stopped';

/** An agent is known by its id, the end of that, or its name. */
export const agentCrud = crud({
  noun: 'agent',
  rows: 'agents',
  endpoints: await contracts.agents(),
  columns: agentTableColumns,
  named: (agent) => agent,
});
