import type { Client, ConversationMessage } from '../../src/client/index.js';
import { type ListChange, type ListName, type RowOf, TUNNEL } from './lists.js';
import { readLogs } from './logs.js';
import type { StateAction } from './state.js';
import { readThings } from './things.js';

interface Asked {
  /** Id of what the rows belong to. */
  of: string | null;
  cursor?: string;
}

interface Loader<T> {
  /** Loads one page of the list. Throws what the client throws. */
  page(client: Client, asked: Asked): Promise<{ rows: T[]; nextCursor: string | null }>;
  /** Returns the action for a change of this list. */
  action(change: ListChange<T>): StateAction;
  /** True if rows are only ever added at the end, so that known rows are not loaded again. */
  isGrowing?: true;
}

const LIMIT = 200;

/** Loads pages from the first on until they hold that many rows; at least one page. */
export const pagesOf = async <T>(
  loader: Pick<Loader<T>, 'page'>,
  client: Client,
  of: string | null,
  most: number,
): Promise<{ rows: T[]; nextCursor: string | null }> => {
  const { rows, nextCursor } = await loader.page(client, { of });
  let cursor = nextCursor;
  while (cursor !== null && rows.length < most) {
    const page = await loader.page(client, { of, cursor });
    rows.push(...page.rows);
    cursor = page.nextCursor;
  }
  return { rows, nextCursor: cursor };
};

/** The loader of each list. */
export const loaders: { [N in ListName]: Loader<RowOf[N]> } = {
  hooks: {
    page: async (client, { cursor }) => {
      const { hooks, nextCursor } = await client.hooks.list({ query: { limit: LIMIT, cursor } });
      return { rows: hooks, nextCursor };
    },
    action: (change) => ({ type: 'list', name: 'hooks', change }),
  },
  executions: {
    page: async (client, { of, cursor }) => {
      const input = { id: of ?? '', query: { limit: 50, cursor } };
      const { executions, nextCursor } = await client.hooks.executions(input);
      return { rows: executions, nextCursor };
    },
    action: (change) => ({ type: 'list', name: 'executions', change }),
  },
  approvals: {
    // Ours: the oldest first, so that a new one is added at the end, and no row moves just as the
    // user presses a key.
    page: async (client, { cursor }) => {
      const query = { limit: LIMIT, cursor };
      const { approvals, nextCursor } = await client.approvals.list({ query });
      return { rows: approvals.reverse(), nextCursor };
    },
    action: (change) => ({ type: 'list', name: 'approvals', change }),
  },
  agents: {
    page: async (client, { cursor }) => {
      const { agents, nextCursor } = await client.agents.list({ query: { limit: LIMIT, cursor } });
      return { rows: agents, nextCursor };
    },
    action: (change) => ({ type: 'list', name: 'agents', change }),
  },
  tree: {
    page: async (client, { of, cursor }) => {
      if (of === null) return { rows: [], nextCursor: null };
      const query = { rootId: of, limit: LIMIT, cursor };
      const { agents, nextCursor } = await client.agents.list({ query });
      return { rows: agents, nextCursor };
    },
    action: (change) => ({ type: 'list', name: 'tree', change }),
  },
  messages: {
    page: async (client, { of, cursor }) => {
      const rows: ConversationMessage[] = [];
      for (let after: string | undefined = cursor; ; ) {
        const query: { limit: number; cursor?: string } = { limit: LIMIT, cursor: after };
        const page = await client.sessions.messages({ id: of ?? '', query });
        rows.push(...page.messages);
        after = String(page.messages.at(-1)?.seq ?? after ?? 0);
        if (page.nextCursor === null) return { rows, nextCursor: after };
      }
    },
    action: (change) => ({ type: 'list', name: 'messages', change }),
    isGrowing: true,
  },
  notifications: {
    page: async (client, { cursor }) => {
      const query = { limit: LIMIT, cursor };
      const { notifications, nextCursor } = await client.notifications.list({ query });
      return { rows: notifications, nextCursor };
    },
    action: (change) => ({ type: 'list', name: 'notifications', change }),
  },
  credentials: {
    page: async (client, { cursor }) => {
      const query = { limit: LIMIT, cursor };
      const { credentials, nextCursor } = await client.vault.list({ query });
      return { rows: credentials, nextCursor };
    },
    action: (change) => ({ type: 'list', name: 'credentials', change }),
  },
  models: {
    page: async (client, { cursor }) => {
      const { models, nextCursor } = await client.models.list({ query: { limit: LIMIT, cursor } });
      return { rows: models, nextCursor };
    },
    action: (change) => ({ type: 'list', name: 'models', change }),
  },
  clitools: {
    page: async (client) => {
      const [{ tools }, { quotas }] = await Promise.all([
        client.clitools.status(),
        client.clitools.quota(),
      ]);
      const rows = tools.map(({ available, loggedIn, ...tool }) => ({
        ...tool,
        id: tool.name,
        isRunnable: available,
        isLoggedIn: loggedIn,
        quota: quotas.find(({ name }) => name === tool.name) ?? null,
      }));
      return { rows, nextCursor: null };
    },
    action: (change) => ({ type: 'list', name: 'clitools', change }),
  },
  users: {
    page: async (client, { cursor }) => {
      const { users, nextCursor } = await client.users.list({ query: { limit: LIMIT, cursor } });
      return { rows: users, nextCursor };
    },
    action: (change) => ({ type: 'list', name: 'users', change }),
  },
  routes: {
    page: async (client) => {
      const { default: first, topics } = await client.models.routing();
      const rows = topics.map(({ topic, primary, fallbacks }) => ({
        id: `topic ${topic}`,
        topic,
        models: [primary, ...fallbacks],
      }));
      return {
        rows: [...rows, { id: 'default', topic: 'default', models: [first] }],
        nextCursor: null,
      };
    },
    action: (change) => ({ type: 'list', name: 'routes', change }),
  },
  audit: {
    page: async (client, { cursor }) => {
      const { entries, nextCursor } = await client.audit.list({ query: { limit: LIMIT, cursor } });
      return { rows: entries, nextCursor };
    },
    action: (change) => ({ type: 'list', name: 'audit', change }),
  },
  logins: {
    page: async (client, { cursor }) => {
      const query = { limit: LIMIT, cursor };
      const { sessions, nextCursor } = await client.logins.list({ query });
      return { rows: sessions, nextCursor };
    },
    action: (change) => ({ type: 'list', name: 'logins', change }),
  },
  tokens: {
    page: async (client, { cursor }) => {
      const { tokens, nextCursor } = await client.tokens.list({ query: { limit: LIMIT, cursor } });
      return { rows: tokens, nextCursor };
    },
    action: (change) => ({ type: 'list', name: 'tokens', change }),
  },
  logs: {
    page: (client, { of, cursor }) => readLogs(client, of, cursor),
    action: (change) => ({ type: 'list', name: 'logs', change }),
    isGrowing: true,
  },
  tunnel: {
    page: async (client) => {
      const tunnel = await client.tunnel.get();
      return { rows: [{ ...tunnel, id: TUNNEL }], nextCursor: null };
    },
    action: (change) => ({ type: 'list', name: 'tunnel', change }),
  },
  things: {
    page: (client, { of, cursor }) => readThings(client, of ?? '', { limit: 50, cursor }),
    action: (change) => ({ type: 'list', name: 'things', change }),
  },
};
