import Boom from '@hapi/boom';
import { DEFAULT_LIMIT } from '../kernel/contract/page.js';
import { resource } from '../kernel/route.js';
import { type Session, sessions } from './contract.js';
import type { SessionsStore, SessionView } from './queries.js';

export const sessionsResource = (deps: { sessions: SessionsStore }) => {
  const find = async (userId: string, id: string): Promise<SessionView> => {
    const row = await deps.sessions.get(userId, id);
    if (!row) throw Boom.notFound('No session with that id');
    return row;
  };

  return resource('sessions', sessions, {
    list: async ({ query }, by) => {
      const page = { ...query, limit: query.limit ?? DEFAULT_LIMIT };
      const { rows, nextCursor } = await deps.sessions.list(by.userId, page);
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
        messages: page.map(({ tool_calls, agent_id, created_at, ...row }) => ({
          ...row,
          ...(tool_calls !== null && { toolCalls: JSON.parse(tool_calls) }),
          agentId: agent_id,
          createdAt: created_at,
        })),
        nextCursor: rows.length > limit ? String(page.at(-1)?.seq ?? 0) : null,
      };
    },
  });
};

const viewSession = (row: SessionView): Session => ({
  id: row.id,
  title: row.title,
  channel: row.channel,
  agentIds: JSON.parse(row.agent_ids),
  messageCount: row.message_count,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});
