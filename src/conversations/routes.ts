import { DEFAULT_LIMIT } from '../kernel/contract/page.js';
import { orNotFound, resource } from '../kernel/route.js';
import { messageTable, sessionTable } from '../store/tables/agents.js';
import { viewer } from '../store/view.js';
import { MessageReply, Session, sessions } from './contract.js';
import type { MessageView, SessionsStore, SessionView } from './queries.js';

export const sessionsResource = (deps: { sessions: SessionsStore }) => {
  const find = async (userId: string, id: string): Promise<SessionView> => {
    return orNotFound(await deps.sessions.get(userId, id), 'No session with that id');
  };

  return resource('sessions', sessions, {
    list: async ({ query }, by) => {
      const { rows, nextCursor } = await deps.sessions.list(by.userId, query);
      return { sessions: rows.map(viewSession), nextCursor };
    },
    get: async ({ id }, by) => viewSession(await find(by.userId, id)),
    messages: async ({ id, query }, by) => {
      await find(by.userId, id);
      const { limit = DEFAULT_LIMIT, cursor } = query;
      const after = Number(cursor ?? 0);
      const rows = await deps.sessions.messages(by.userId, id, { after, limit: limit + 1 });
      const page = rows.slice(0, limit);
      return {
        messages: page.map(viewMessage),
        nextCursor: rows.length > limit ? String(page.at(-1)?.seq ?? 0) : null,
      };
    },
  });
};

const viewSession = viewer(sessionTable, Session, {
  agentIds: ({ agent_ids }: SessionView) => JSON.parse(agent_ids),
});

const viewMessage = viewer(messageTable, MessageReply, {
  toolCalls: ({ tool_calls }: MessageView) =>
    tool_calls === null ? undefined : JSON.parse(tool_calls),
});
