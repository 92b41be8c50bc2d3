import type { Client } from '../../src/client/index.js';
import type { Trouble } from './lists.js';
import type { Place, Root } from './places.js';
import { troubleOf } from './trouble.js';

/** One thing that needs the person. */
export interface Need {
  id: string;
  /** `approval`, `failed`, `paused` … */
  kind: string;
  what: string;
  name: string;
  /** ISO 8601; when it ends or happened. */
  at: string | null;
  isUntrusted: boolean;
  /** Where it is answered. */
  root: Root;
  places: Place[];
}

export interface Part {
  name: string;
  status: 'ok' | 'warn' | 'down';
  detail: string;
}

export interface Overview {
  version: string;
  status: 'ok' | 'warn' | 'down';
  uptimeSeconds: number;
  parts: Part[];
  counts: { hooks: number; disabled: number; runs: number; agents: number; running: number };
  unread: number;
  waiting: number;
  needs: Need[];
}

export interface OverviewState {
  known: Overview | null;
  loadedAt: number | null;
  trouble: Trouble | null;
}
export type OverviewAction =
  | { type: 'overview.read'; overview: Overview; at: number }
  | { type: 'overview.failed'; trouble: Trouble };

export const overview = (): OverviewState => ({ known: null, loadedAt: null, trouble: null });

export const reduceOverview = (state: OverviewState, action: OverviewAction): OverviewState =>
  action.type === 'overview.read'
    ? { known: action.overview, loadedAt: action.at, trouble: null }
    : { ...state, trouble: action.trouble };

const ACTIVE = ['pending', 'running', 'waiting_approval', 'paused'];

/**
 * Ours: made of five lists while the API has no overview of its own; this function alone knows it.
 * ApiError, Unreachable: as the client throws them.
 */
const readOverview = async (client: Client): Promise<Overview> => {
  const [health, hooks, agents, approvals, notifications] = await Promise.all([
    client.health.detailed(),
    client.hooks.list({ query: { limit: 200 } }),
    client.agents.list({ query: { limit: 200 } }),
    client.approvals.list({ query: { status: 'pending', limit: 200 } }),
    client.notifications.list({ query: { unread: true, limit: 1 } }),
  ]);
  return {
    version: health.version,
    status: health.status,
    uptimeSeconds: health.uptimeSeconds,
    parts: health.parts,
    counts: {
      hooks: hooks.hooks.length,
      disabled: hooks.hooks.filter(({ enabled }) => !enabled).length,
      runs: hooks.hooks.reduce((sum, { stats }) => sum + stats.executions, 0),
      agents: agents.agents.length,
      running: agents.agents.filter(({ status }) => ACTIVE.includes(status)).length,
    },
    unread: notifications.unreadCount,
    waiting: approvals.approvals.length,
    needs: [
      ...[...approvals.approvals].reverse().map(needOfApproval),
      ...hooks.hooks.filter(hasFailed).map(needOfHook),
      ...agents.agents.filter(({ status }) => status === 'paused').map(needOfAgent),
      ...health.parts.filter(({ status }) => status !== 'ok').map(needOfPart),
    ],
  };
};

/** Asks, and says what came of it. */
export const askOverview = async (client: Client, now: () => number): Promise<OverviewAction> => {
  try {
    return { type: 'overview.read', overview: await readOverview(client), at: now() };
  } catch (error) {
    return { type: 'overview.failed', trouble: troubleOf(error) };
  }
};

type Approvals = Awaited<ReturnType<Client['approvals']['list']>>['approvals'];
type Hooks = Awaited<ReturnType<Client['hooks']['list']>>['hooks'];
type Agents = Awaited<ReturnType<Client['agents']['list']>>['agents'];

const needOfApproval = (approval: Approvals[number]): Need => ({
  id: approval.id,
  kind: 'approval',
  what: `${approval.tool}.${approval.action}`,
  name: approval.agentId === null ? 'a direct call' : `agent ${approval.agentId.slice(-6)}`,
  at: approval.expiresAt,
  isUntrusted: approval.untrusted,
  root: 'approvals',
  places: [],
});

const hasFailed = ({ stats }: Hooks[number]): boolean =>
  stats.lastStatus === 'error' || stats.lastStatus === 'interrupted';

const needOfHook = ({ id, name, stats }: Hooks[number]): Need => ({
  id,
  kind: stats.lastStatus === 'interrupted' ? 'broken off' : 'failed',
  what: 'execution',
  name,
  at: stats.lastExecutionAt,
  isUntrusted: false,
  root: 'hooks',
  places: [{ page: 'hook', id }],
});

const needOfAgent = ({ id, name, untrusted, startedAt }: Agents[number]): Need => ({
  id,
  kind: 'paused',
  what: 'agent',
  name,
  at: startedAt,
  isUntrusted: untrusted,
  root: 'agents',
  places: [],
});

const needOfPart = ({ name, status, detail }: Part): Need => ({
  id: `part ${name}`,
  kind: status,
  what: name,
  name: detail,
  at: null,
  isUntrusted: false,
  root: 'overview',
  places: [],
});
