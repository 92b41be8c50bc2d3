import { sql } from 'kysely';
import type { CallerTrust } from '../permissions/module.js';
import type { Statement } from '../store/engine/protocol.js';
import { type Store, statement } from '../store/store.js';
import type { AgentRow } from '../store/tables/agents.js';

/**
 * Builds the statements that taint an agent and its session, and thereby every later agent in that
 * session. A taint is never removed.
 */
export const taint = ({ db }: Store, { id, session_id }: Pick<AgentRow, 'id' | 'session_id'>) => [
  statement(db.updateTable('agents').set({ untrusted: 1 }).where('id', '=', id)),
  statement(db.updateTable('sessions').set({ untrusted: 1 }).where('id', '=', session_id)),
];

/**
 * Builds the statement that taints the session of an agent that was untrusted from the beginning.
 */
export const inheritTaint = (
  { db }: Store,
  { id, sessionId }: { id: string; sessionId: string },
): Statement => {
  const untrusted = db.selectFrom('agents').select('id').where('id', '=', id);
  return statement(
    db
      .updateTable('sessions')
      .set({ untrusted: 1 })
      .where('id', '=', sessionId)
      .where((of) => of.exists(untrusted.where('untrusted', '=', 1))),
  );
};

/**
 * Builds the statements that taint the parent of an untrusted agent, because the parent gets its
 * result.
 */
export const taintParent = (store: Store, { id, parent_id }: AgentRow): Statement[] => {
  if (parent_id === null) return [];
  const { db } = store;
  const isUntrusted = sql<boolean>`EXISTS (SELECT 1 FROM agents AS child
    WHERE child.id = ${id} AND child.untrusted = 1)`;
  const parent = db.selectFrom('agents').select('session_id').where('id', '=', parent_id);
  return [
    db.updateTable('agents').set({ untrusted: 1 }).where('id', '=', parent_id).where(isUntrusted),
    db.updateTable('sessions').set({ untrusted: 1 }).where('id', 'in', parent).where(isUntrusted),
  ].map((each) => statement(each));
};

/**
 * Builds the statement that keeps the trust in an agent as it is now, for the calls of the reply that
 * is stored with it. What those calls bring in does not count for the other calls of that reply,
 * which the model had chosen before.
 */
export const keepReplyTrust = ({ db }: Store, id: string): Statement =>
  statement(
    db
      .updateTable('agents')
      .set(({ ref }) => ({ reply_untrusted: ref('untrusted') }))
      .where('id', '=', id),
  );

/** Returns the trust in an agent when it gave its last reply, by which its calls are judged. */
export const trustAtReply = (
  agent: Pick<AgentRow, 'untrusted' | 'reply_untrusted' | 'hook_id' | 'tools'>,
): CallerTrust => {
  const untrusted = agent.untrusted === 1 && agent.reply_untrusted === 1 ? 1 : 0;
  return agentTrust({ ...agent, untrusted });
};

/**
 * Returns the present trust in an agent. A hook's grant was given to an agent that reads payloads
 * and stays valid. A grant to a trusted agent ends when the agent reads untrusted content.
 */
export const agentTrust = (
  agent: Pick<AgentRow, 'untrusted' | 'hook_id' | 'tools'>,
): CallerTrust => {
  const isUntrusted = agent.untrusted === 1;
  const holds = agent.hook_id !== null || !isUntrusted;
  const granted: string[] = holds && agent.tools !== null ? JSON.parse(agent.tools) : [];
  return { isUntrusted, granted: new Set(granted) };
};
