import { sql } from 'kysely';
import type { Persona } from '../experts/expert.js';
import { mint } from '../kernel/ids.js';
import type { Statement, TransactionStep } from '../store/engine/protocol.js';
import { type Store, statement } from '../store/store.js';
import type { AgentRow } from '../store/tables/agents.js';
import type { ChannelKind } from '../store/tables/channels.js';
import { type AgentLimits, DEFAULT_LIMITS, UNFINISHED } from './agent.js';
import { type AgentRecord, createRecord, type RecordDeps } from './record.js';
import { inheritTaint } from './taint.js';

export interface SpawnRequest {
  userId: string;
  prompt: string;
  model: string;
  name?: string;
  topic?: string;
  /** An existing session of the same user to continue. */
  sessionId?: string;
  channel: 'api' | 'hook' | 'chat' | 'agent' | ChannelKind;
  /** The channel of a new session, to which its answers go. */
  channelId?: string;
  /** Returns the steps that are committed together with the agent. */
  also?(sessionId: string): TransactionStep[];
  /**
   * True if the agent's input is untrusted. An untrusted session or parent makes the agent
   * untrusted too.
   */
  untrusted: boolean;
  parentId?: string;
  /** The place of a sub-agent in its tree. */
  place?: TreePosition;
  part?: Persona;
  hookId?: string;
  executionId?: string;
  /** The number of times that its cause came back to this daemon. */
  hops?: number;
  notifyOwner?: boolean;
  orchestrated?: boolean;
  tools?: string[];
  limits?: Partial<AgentLimits>;
  lane: string;
}

export interface TreePosition {
  rootId: string;
  depth: number;
  effectId: string;
  parentMs: number;
}

/**
 * Builds the record that creates an agent, its session and its first message; the caller adds the
 * job. The commit throws Unmet if another agent is at work in the named session.
 */
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
      ? newSession(deps, sessionId, agent, record.at)
      : onlyFree(store, { id: sessionId, userId });
  record
    .add(...conditions, session)
    .add(statement(insert(deps, rowOf(id, sessionId, agent, record.at)), 1))
    .add(...(agent.parentId === undefined ? [] : [inheritTaint(store, { id, sessionId })]))
    .message({ role: 'user', content: agent.prompt })
    .event('agent.status', { status: 'queued' })
    .add(...(agent.also?.(sessionId) ?? []));
  return { id, sessionId, record };
};

/**
 * Builds a statement that holds if the session belongs to the user and no agent is at work in it;
 * it throws Unmet otherwise.
 */
export const onlyFree = (
  { db }: Store,
  { id, userId }: { id: string; userId: string },
): Statement => {
  const atWork = db
    .selectFrom('agents')
    .select('id')
    .where('session_id', '=', id)
    .where('status', 'in', UNFINISHED);
  const touched = db
    .updateTable('sessions')
    .set((of) => ({ updated_at: of.ref('updated_at') }))
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .where((of) => of.not(of.exists(atWork)));
  return statement(touched, 1);
};

const newSession = (
  { store }: RecordDeps,
  id: string,
  { userId, channel, channelId, name, prompt, untrusted }: SpawnRequest,
  at: string,
): Statement => {
  const title = (name ?? firstLine(prompt)).slice(0, 80);
  return statement(
    store.db.insertInto('sessions').values({
      id,
      user_id: userId,
      title,
      channel,
      channel_id: channelId ?? null,
      ...marked(untrusted),
      created_at: at,
      updated_at: at,
    }),
    1,
  );
};

const marked = (untrusted: boolean) => ({ untrusted: untrusted ? 1 : 0 });

/**
 * Inserts the agent. Its trust is judged in the transaction, because the session may have been
 * tainted a moment ago.
 */
const insert = ({ store: { db } }: RecordDeps, row: ReturnType<typeof rowOf>) =>
  db.insertInto('agents').values({
    ...row,
    untrusted: sql<number>`max(${row.untrusted},
      coalesce((SELECT untrusted FROM sessions WHERE id = ${row.session_id}), 0),
      coalesce((SELECT untrusted FROM agents WHERE id = ${row.parent_id}), 0))`,
  });

const firstLine = (text: string): string => text.trim().split('\n', 1)[0] || 'untitled';

/**
 * Returns the label for an agent's name. A sub-agent inherits its topic, so the topic says nothing
 * about it.
 */
const labelOf = ({ part, topic, place, channel }: SpawnRequest): string =>
  part?.name ?? (place ? undefined : topic) ?? channel;

const rowOf = (id: string, sessionId: string, agent: SpawnRequest, at: string) =>
  ({
    id,
    user_id: agent.userId,
    name: agent.name ?? `${labelOf(agent)}-${id.slice(-6)}`,
    topic: agent.topic ?? null,
    role: agent.part?.name ?? (agent.orchestrated ? 'orchestrator' : null),
    model: agent.model,
    prompt: agent.prompt,
    status: 'queued',
    ...marked(agent.untrusted),
    parent_id: agent.parentId ?? null,
    root_id: agent.place?.rootId ?? null,
    depth: agent.place?.depth ?? 0,
    effect_id: agent.place?.effectId ?? null,
    parent_ms: agent.place?.parentMs ?? 0,
    expert: agent.part ? JSON.stringify(agent.part) : null,
    session_id: sessionId,
    hook_id: agent.hookId ?? null,
    execution_id: agent.executionId ?? null,
    hops: agent.hops ?? 0,
    notify_owner: agent.notifyOwner ? 1 : 0,
    orchestrated: agent.orchestrated ? 1 : 0,
    tools: agent.tools ? JSON.stringify(agent.tools) : null,
    limits: JSON.stringify({ ...DEFAULT_LIMITS, ...agent.limits }),
    lane: agent.lane,
    result: null,
    error: null,
    created_at: at,
    started_at: null,
    finished_at: null,
  }) satisfies Partial<AgentRow>;
