import type { Store } from '../../store/store.js';
import type { AgentControl } from './control.js';
import type { AgentRows } from './rows.js';

/** The session that a chat message names is not one of the user's. */
export class NoSession extends Error {
  override name = 'NoSession';
}

export interface ChatDeps {
  store: Store;
  rows: AgentRows;
  control: AgentControl;
  defaultModel(): string;
}

/**
 * A chat message: the newest agent of the session takes it as its next turn; without a session, a
 * new one begins with an agent of its own.
 */
export const createChat =
  ({ store, rows, control, defaultModel }: ChatDeps) =>
  async (
    userId: string,
    { content, sessionId }: { content: string; sessionId?: string },
  ): Promise<{ sessionId: string; agentId: string }> => {
    if (sessionId === undefined) {
      const spawned = await control.spawn({
        userId,
        prompt: content,
        model: defaultModel(),
        channel: 'chat',
        untrusted: false,
        lane: userId,
      });
      return { sessionId: spawned.sessionId, agentId: spawned.id };
    }
    const newest = await store.db
      .selectFrom('agents')
      .select('id')
      .where('user_id', '=', userId)
      .where('session_id', '=', sessionId)
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst();
    const agent = newest && (await rows.owned(userId, newest.id));
    if (!agent) throw new NoSession('No session with that id');
    await control.message(agent, content);
    return { sessionId, agentId: agent.id };
  };
