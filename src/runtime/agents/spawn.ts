import { mint } from '../../kernel/ids.js';
import type { Statement } from '../../store/protocol.js';
import { type Store, statement } from '../../store/store.js';
import type { AgentRow } from '../../store/tables/agents.js';
import { type AgentLimits, DEFAULT_LIMITS, UNFINISHED } from './agent.js';
import { type AgentRecord, createRecord, type RecordDeps } from './record.js';

export interface NewAgent {
  userId: string;
  prompt: string;
  model: string;
  name?: string;
  topic?: string;
  /** An existing session of the same user to go on in. */
  sessionId?: string;
  channel: 'api' | 'hook' | 'chat';
  untrusted: boolean;
  hookId?: string;
  executionId?: string;
  notifyOwner?: boolean;
  orchestrated?: boolean;
  tools?: string[];
  limits?: Partial<AgentLimits>;
  lane: string;
}

/**
 * The record that makes an agent, its session and its first message; the caller adds the job. Unmet
 * where it names a session in which another agent is at work.
 */
export const spawnRecord = (
  deps: RecordDeps,
  agent: NewAgent,
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
    .add(session)
    .add(statement(store.db.insertInto('agents').values(rowOf(id, sessionId, agent, record.at)), 1))
    .message({ role: 'user', content: agent.prompt })
    .event('agent.status', { status: 'queued' });
  return { id, sessionId, record };
};

/** Holds (Unmet otherwise) where the session is the user's and nobody is at work in it. */
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
  { userId, channel, name, prompt }: NewAgent,
  at: string,
): Statement => {
  const title = (name ?? firstLine(prompt)).slice(0, 80);
  return statement(
    store.db
      .insertInto('sessions')
      .values({ id, user_id: userId, title, channel, created_at: at, updated_at: at }),
    1,
  );
};

const firstLine = (text: string): string => text.trim().split('\n', 1)[0] || 'untitled';

const rowOf = (id: string, sessionId: string, agent: NewAgent, at: string) =>
  ({
    id,
    user_id: agent.userId,
    name: agent.name ?? `${agent.topic ?? agent.channel}-${id.slice(-6)}`,
    topic: agent.topic ?? null,
    role: null,
    model: agent.model,
    prompt: agent.prompt,
    status: 'queued',
    untrusted: agent.untrusted ? 1 : 0,
    parent_id: null,
    session_id: sessionId,
    hook_id: agent.hookId ?? null,
    execution_id: agent.executionId ?? null,
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
