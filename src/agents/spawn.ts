import type { Persona } from '../experts/module.js';
import { mint } from '../kernel/ids.js';
import type { Statement, TransactionStep } from '../store/engine/protocol.js';
import { insertRow } from '../store/rows.js';
import { assertRows, type Store } from '../store/store.js';
import { agentTable, sessionTable } from '../store/tables/agents.js';
import type { ChannelKind } from '../store/tables/channels.js';
import { visibleTo } from '../store/visible.js';
import { type AgentLimits, DEFAULT_LIMITS, UNFINISHED } from './agent.js';
import { type AgentRecord, createRecord, type RecordDeps } from './record.js';
import { inheritTaint } from './taint.js';

export interface SpawnRequest {
  userId: string;
  /** Of an organization: the member who started the agent. Sub-agents inherit it. */
  memberId?: string | undefined;
  prompt: string;
  model: string;
  name?: string;
  topic?: string;
  sessionId?: string;
  channel: 'api' | 'hook' | 'chat' | 'agent' | ChannelKind;
  /** Channel of a new session, to which results are sent. */
  channelId?: string;
  also?(sessionId: string): TransactionStep[];
  /** An untrusted session or parent makes the agent untrusted too. */
  untrusted: boolean;
  parentId?: string;
  place?: { rootId: string; depth: number; effectId: string; parentMs: number };
  persona?: Persona;
  hookId?: string;
  executionId?: string;
  /** Number of times that the cause came back to this daemon. */
  hops?: number;
  notifyOwner?: boolean;
  /** Whether an agent of a hook may use memories. */
  memory?: boolean;
  orchestrated?: boolean;
  tools?: string[];
  limits?: Partial<AgentLimits>;
  lane: string;
}

/** The caller adds the job. The commit throws Unmet if another agent is active in the session. */
export const spawnRecord = (
  deps: RecordDeps,
  agent: SpawnRequest,
  ...conditions: Statement[]
): { id: string; sessionId: string; record: AgentRecord } => {
  const { store, clock } = deps;
  const now = clock.now();
  const id = mint('agent', now);
  const sessionId = agent.sessionId ?? mint('session', now);
  const record = createRecord(deps, { id, user_id: agent.userId, session_id: sessionId });
  const { userId } = agent;
  const session =
    agent.sessionId === undefined
      ? newSession(sessionId, agent, record.at)
      : assertSessionFree(store, { id: sessionId, userId });
  record
    .add(...conditions, session)
    .add(insert({ id, sessionId, at: record.at }, agent))
    .add(...(agent.parentId === undefined ? [] : inheritTaint(store, { id, sessionId })))
    .message({ role: 'user', content: agent.prompt })
    .event('agent.status', { status: 'queued' })
    .add(...(agent.also?.(sessionId) ?? []));
  return { id, sessionId, record };
};

/** Holds if the session belongs to the user and has no active agent. Throws Unmet otherwise. */
export const assertSessionFree = (
  { db }: Store,
  { id, userId }: { id: string; userId: string },
): Statement => {
  const atWork = db
    .selectFrom('agents')
    .select('id')
    .where('session_id', '=', id)
    .where('status', 'in', UNFINISHED);
  const free = db
    .selectFrom('sessions')
    .select('id')
    .where(visibleTo(userId))
    .where('id', '=', id)
    .where((of) => of.not(of.exists(atWork)));
  return assertRows(free, 1);
};

const newSession = (
  id: string,
  { userId, channel, channelId, name, prompt, untrusted }: SpawnRequest,
  at: string,
): Statement => {
  const title = (name ?? firstLine(prompt)).slice(0, 80);
  return insertRow(sessionTable, {
    id,
    user_id: userId,
    title,
    channel,
    channel_id: channelId ?? null,
    untrusted: untrusted ? 1 : 0,
    created_at: at,
    updated_at: at,
  });
};

/** The trust is decided in the transaction, because the session may have just been tainted. */
const insert = (
  { id, sessionId, at }: { id: string; sessionId: string; at: string },
  agent: SpawnRequest,
): Statement => {
  const row = {
    id,
    user_id: agent.userId,
    name: agent.name ?? `${nameLabel(agent)}-${id.slice(-6)}`,
    topic: agent.topic,
    role: agent.persona?.name ?? (agent.orchestrated ? 'orchestrator' : null),
    model: agent.model,
    prompt: agent.prompt,
    status: 'queued' as const,
    parent_id: agent.parentId,
    root_id: agent.place?.rootId,
    depth: agent.place?.depth,
    effect_id: agent.place?.effectId,
    parent_ms: agent.place?.parentMs,
    expert: agent.persona && JSON.stringify(agent.persona),
    session_id: sessionId,
    hook_id: agent.hookId,
    execution_id: agent.executionId,
    hops: agent.hops,
    memory: agent.memory ? 1 : 0,
    notify_owner: agent.notifyOwner ? 1 : 0,
    orchestrated: agent.orchestrated ? 1 : 0,
    tools: agent.tools && JSON.stringify(agent.tools),
    limits: JSON.stringify({ ...DEFAULT_LIMITS, ...agent.limits }),
    lane: agent.lane,
    created_at: at,
  };
  const untrusted = {
    sql: `max(?, coalesce((SELECT untrusted FROM sessions WHERE id = ?), 0),
      coalesce((SELECT untrusted FROM agents WHERE id = ?), 0))`,
    parameters: [agent.untrusted ? 1 : 0, sessionId, agent.parentId ?? null],
  };
  const member_id = {
    sql: 'coalesce(?, (SELECT member_id FROM agents WHERE id = ?))',
    parameters: [agent.memberId ?? null, agent.parentId ?? null],
  };
  return insertRow(agentTable, row, { untrusted, member_id });
};

const firstLine = (text: string): string => text.trim().split('\n', 1)[0] || 'untitled';

/** A sub-agent inherits its topic, which therefore says nothing about it. */
const nameLabel = ({ persona, topic, place, channel }: SpawnRequest): string =>
  persona?.name ?? (place ? undefined : topic) ?? channel;
