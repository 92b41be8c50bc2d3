import { type RawBuilder, sql } from 'kysely';
import type { CallerTrust } from '../permissions/module.js';
import type { Statement } from '../store/engine/protocol.js';
import { type Store, statement } from '../store/store.js';
import type { AgentRow } from '../store/tables/agents.js';

/** All agents of a session read its messages. A taint is never removed. */
export const taint = (store: Store, { session_id }: Pick<AgentRow, 'session_id'>): Statement[] =>
  taintSession(store, session_id);

/**
 * Builds the statements that taint the session of an agent that was untrusted from the beginning.
 */
export const inheritTaint = (
  store: Store,
  { id, sessionId }: { id: string; sessionId: string },
): Statement[] => taintSession(store, sessionId, isUntrusted(id));

/** The parent gets the result. */
export const taintParent = (store: Store, { id, parent_id }: AgentRow): Statement[] => {
  if (parent_id === null) return [];
  const session = sql<string>`(SELECT session_id FROM agents WHERE id = ${parent_id})`;
  return taintSession(store, session, isUntrusted(id));
};

const isUntrusted = (id: string): RawBuilder<boolean> =>
  sql`EXISTS (SELECT 1 FROM agents AS cause WHERE cause.id = ${id} AND cause.untrusted = 1)`;

const taintSession = (
  { db }: Store,
  session: string | RawBuilder<string>,
  condition: RawBuilder<boolean> = sql`TRUE`,
): Statement[] =>
  [
    db.updateTable('sessions').set({ untrusted: 1 }).where('id', '=', session).where(condition),
    db
      .updateTable('agents')
      .set({ untrusted: 1 })
      .where('session_id', '=', session)
      .where(condition),
  ].map((each) => statement(each));

/**
 * Results of these calls do not affect the other calls of the reply, which the model had already
 * chosen.
 */
export const storeReplyTrust = ({ db }: Store, id: string): Statement =>
  statement(
    db
      .updateTable('agents')
      .set(({ ref }) => ({ reply_untrusted: ref('untrusted') }))
      .where('id', '=', id),
  );

/** Trust at the last reply, by which its calls are decided. */
export const trustAtReply = (
  agent: Pick<AgentRow, 'untrusted' | 'reply_untrusted' | 'hook_id' | 'tools'>,
): CallerTrust => {
  const untrusted = agent.untrusted === 1 && agent.reply_untrusted === 1 ? 1 : 0;
  return agentTrust({ ...agent, untrusted });
};

/**
 * A grant of a hook stays valid. A grant to a trusted agent ends when it reads untrusted content.
 */
export const agentTrust = (
  agent: Pick<AgentRow, 'untrusted' | 'hook_id' | 'tools'>,
): CallerTrust => {
  const isUntrusted = agent.untrusted === 1;
  const holds = agent.hook_id !== null || !isUntrusted;
  const granted: string[] = holds && agent.tools !== null ? JSON.parse(agent.tools) : [];
  return { isUntrusted, granted: new Set(granted) };
};
