import {
  ApiError,
  type Client,
  type ConversationMessage,
  type MailMessage,
  type TaskView,
} from '../../src/client/index.js';
import { readCapabilities, readHardware } from './capabilities.js';
import { readLogs } from './logs.js';
import { type MailQuery, mailQuery } from './mailquery.js';
import { readOrgSettings } from './orgs.js';
import { readRuns, readStages } from './pipelineruns.js';
import { readResourceRows } from './resources.js';
import {
  type AnswerItem,
  type ChunkItem,
  type CliToolItem,
  type DocumentPageItem,
  FOUND,
  type FoundItem,
  type ListName,
  type RouteItem,
  type RowOf,
  TUNNEL,
} from './rows.js';

interface Asked {
  /** Id of the parent. */
  of: string | null;
  cursor?: string;
}

interface RowPage<T> {
  rows: T[];
  nextCursor: string | null;
}

export interface ListLoader<T> {
  /** Loads one page of the list. Throws client errors. */
  page(client: Client, asked: Asked): Promise<RowPage<T>>;
  /** Whether rows are only added at the end, so that known rows are not reloaded. */
  isGrowing?: true;
  /** Whether a request is aborted when the list is no longer needed or requested again. */
  isGivenUp?: true;
  /** Whether rows of another parent are shown until the reply arrives. */
  keepsRows?: true;
  /** Whether a reply is expensive: known data is never requested again. */
  isAskedOnce?: true;
}

const LIMIT = 200;
const MAX_FOUND = 30;

/** Loads pages until they hold that many rows; at least one page. */
export const loadListPages = async <T>(
  loader: ListLoader<T>,
  client: Client,
  of: string | null,
  most: number,
): Promise<RowPage<T>> => {
  const { rows, nextCursor } = await loader.page(client, { of });
  let cursor = nextCursor;
  while (cursor !== null && rows.length < most) {
    const page = await loader.page(client, { of, cursor });
    rows.push(...page.rows);
    cursor = page.nextCursor;
  }
  return { rows, nextCursor: cursor };
};

/** Loader of a paginated list. `key` is the field with the rows. */
const pagedLoader = <K extends string, T>(
  key: K,
  ask: (
    client: Client,
    query: { limit: number; cursor?: string },
  ) => Promise<{ [P in K]: T[] } & { nextCursor: string | null }>,
): ListLoader<T> => ({
  page: async (client, { cursor }) => {
    const reply = await ask(client, { limit: LIMIT, cursor });
    return { rows: reply[key], nextCursor: reply.nextCursor };
  },
});

/** Loader of a list that comes as a whole. */
const wholeLoader = <T>(ask: (client: Client) => Promise<T[]>): ListLoader<T> => ({
  page: async (client) => ({ rows: await ask(client), nextCursor: null }),
});

const readMessages: ListLoader<ConversationMessage>['page'] = async (client, { of, cursor }) => {
  const rows: ConversationMessage[] = [];
  for (let after: string | undefined = cursor; ; ) {
    const query: { limit: number; cursor?: string } = { limit: LIMIT, cursor: after };
    const page = await client.sessions.messages({ id: of ?? '', query });
    rows.push(...page.messages);
    after = String(page.messages.at(-1)?.seq ?? after ?? 0);
    if (page.nextCursor === null) return { rows, nextCursor: after };
  }
};

const readTools = async (client: Client): Promise<CliToolItem[]> => {
  const [{ tools }, { quotas }] = await Promise.all([
    client.clitools.status(),
    client.clitools.quota(),
  ]);
  return tools.map(({ available, loggedIn, ...tool }) => ({
    ...tool,
    id: tool.name,
    isRunnable: available,
    isLoggedIn: loggedIn,
    quota: quotas.find(({ name }) => name === tool.name) ?? null,
  }));
};

const readRoutes = async (client: Client): Promise<RouteItem[]> => {
  const { default: first, topics } = await client.models.routing();
  const rows = topics.map(({ topic, primary, fallbacks }) => ({
    id: `topic ${topic}`,
    topic,
    models: [primary, ...fallbacks],
  }));
  return [...rows, { id: 'default', topic: 'default', models: [first] }];
};

const searchFor = async (client: Client, query: string): Promise<FoundItem[]> => {
  const found = await client.knowledge.search({ body: { query, limit: MAX_FOUND } });
  return [{ ...found, id: FOUND, query }];
};

const readChunk = async (client: Client, key: string): Promise<ChunkItem[]> => {
  const [id = '', n = ''] = key.split(' ');
  return [{ ...(await client.knowledge.chunk({ id, n })), id: key }];
};

const readDocumentPage = async (client: Client, key: string): Promise<DocumentPageItem[]> => {
  const [id = '', number = ''] = key.split(' ');
  try {
    return [{ ...(await client.documents.page({ id, number })), id: key, error: null }];
  } catch (error) {
    if (!(error instanceof ApiError) || error.statusCode !== 404) throw error;
    // The document may exist without its pages.
    const { filename, pages, status, error: reason } = await client.documents.get({ id });
    const facts = { number: Number(number), chars: 0, ocr: false, confidence: null, text: '' };
    return [{ ...facts, id: key, filename, pages, error: reason ?? `Status: ${status}` }];
  }
};

const askFor = async (client: Client, question: string): Promise<AnswerItem[]> => {
  return [{ ...(await client.knowledge.ask({ body: { question } })), id: question }];
};

/** Tasks of one of `TASK_VIEWS`, or the task with that id. */
const readTasks = async (
  client: Client,
  view: string | null,
  cursor: string | undefined,
): Promise<RowPage<TaskView>> => {
  if (view?.startsWith('task_')) {
    return { rows: [await client.tasks.get({ id: view })], nextCursor: null };
  }
  const due = (['today', 'overdue'] as const).find((each) => each === view);
  const query = {
    limit: LIMIT,
    cursor,
    ...(due !== undefined && { due }),
    ...(view === 'next' && { view: 'next' as const }),
  };
  const { tasks, nextCursor } = await client.tasks.list({ query });
  return { rows: tasks, nextCursor };
};

const readMails = async (
  client: Client,
  of: MailQuery | { thread: string },
  cursor: string | undefined,
): Promise<RowPage<MailMessage>> => {
  const query = { ...of, limit: LIMIT, cursor };
  const { messages, nextCursor } = await client.mail.list({ query });
  return { rows: messages, nextCursor };
};

/** Loader of data for a key, such as a search query. */
const keyedLoader = <T>(
  ask: (client: Client, key: string) => Promise<T[]>,
  more: Omit<ListLoader<T>, 'page'>,
): ListLoader<T> => ({
  page: async (client, { of }) => ({ rows: await ask(client, of ?? ''), nextCursor: null }),
  ...more,
});

export const loaders: { [N in ListName]: ListLoader<RowOf[N]> } = {
  hooks: pagedLoader('hooks', ({ hooks }, query) => hooks.list({ query })),
  executions: {
    page: async (client, { of, cursor }) => {
      if (of?.startsWith('execution_')) {
        return { rows: [await client.executions.get({ id: of })], nextCursor: null };
      }
      const input = { id: of ?? '', query: { limit: 50, cursor } };
      const { executions, nextCursor } = await client.hooks.executions(input);
      return { rows: executions, nextCursor };
    },
  },
  replies: {
    page: async (client, { of, cursor }) => {
      const input = { id: of ?? '', query: { limit: LIMIT, cursor } };
      const { replies, nextCursor } = await client.hooks.replies(input);
      return { rows: replies, nextCursor };
    },
  },
  approvals: {
    // Oldest first: a new approval is added at the end, and no row moves just as the user presses a
    // key.
    page: async (client, { cursor }) => {
      const query = { limit: LIMIT, cursor };
      const { approvals, nextCursor } = await client.approvals.list({ query });
      return { rows: approvals.reverse(), nextCursor };
    },
  },
  agents: pagedLoader('agents', ({ agents }, query) => agents.list({ query })),
  tree: {
    page: async (client, { of, cursor }) => {
      if (of === null) return { rows: [], nextCursor: null };
      const query = { rootId: of, limit: LIMIT, cursor };
      const { agents, nextCursor } = await client.agents.list({ query });
      return { rows: agents, nextCursor };
    },
  },
  messages: { page: readMessages, isGrowing: true },
  notifications: pagedLoader('notifications', (client, query) =>
    client.notifications.list({ query }),
  ),
  credentials: pagedLoader('credentials', ({ vault }, query) => vault.list({ query })),
  models: pagedLoader('models', ({ models }, query) => models.list({ query })),
  clitools: wholeLoader(readTools),
  users: pagedLoader('users', ({ users }, query) => users.list({ query })),
  routes: wholeLoader(readRoutes),
  audit: pagedLoader('entries', ({ audit }, query) => audit.list({ query })),
  logins: pagedLoader('sessions', ({ logins }, query) => logins.list({ query })),
  tokens: pagedLoader('tokens', ({ tokens }, query) => tokens.list({ query })),
  logs: { page: (client, { of, cursor }) => readLogs(client, of, cursor), isGrowing: true },
  tunnel: wholeLoader(async ({ tunnel }) => [{ ...(await tunnel.get()), id: TUNNEL }]),
  operations: pagedLoader('operations', ({ operations }, query) => operations.list({ query })),
  entries: pagedLoader('entries', ({ knowledge }, query) => knowledge.list({ query })),
  found: keyedLoader(searchFor, { isGivenUp: true, keepsRows: true }),
  chunks: keyedLoader(readChunk, { isGivenUp: true }),
  documentPages: keyedLoader(readDocumentPage, { isGivenUp: true }),
  reports: keyedLoader(async ({ research }, id) => [await research.get({ id })], {
    isGivenUp: true,
  }),
  answers: keyedLoader(askFor, { keepsRows: true, isAskedOnce: true }),
  tasks: {
    page: (client, { of, cursor }) => readTasks(client, of, cursor),
  },
  parts: {
    page: async (client, { of, cursor }) => {
      const query = { parentId: of ?? '', limit: LIMIT, cursor };
      const { tasks, nextCursor } = await client.tasks.list({ query });
      return { rows: tasks, nextCursor };
    },
  },
  parents: keyedLoader(async ({ tasks }, id) => [await tasks.get({ id })], { isGivenUp: true }),
  runs: { page: (client, { of, cursor }) => readRuns(client, of, { limit: LIMIT, cursor }) },
  templates: pagedLoader('templates', ({ templates }, query) => templates.list({ query })),
  stages: {
    page: async (client, { of }) => ({ rows: await readStages(client, of), nextCursor: null }),
    isGivenUp: true,
  },
  capabilities: wholeLoader(readCapabilities),
  hardware: wholeLoader(readHardware),
  mails: {
    page: (client, { of, cursor }) => readMails(client, mailQuery(of ?? ''), cursor),
    isGivenUp: true,
    keepsRows: true,
  },
  threadMails: {
    page: (client, { of, cursor }) => readMails(client, { thread: of ?? '' }, cursor),
  },
  wholeMails: keyedLoader(async ({ mail }, id) => [await mail.get({ id })], { isGivenUp: true }),
  drafts: pagedLoader('drafts', ({ maildrafts }, query) => maildrafts.list({ query })),
  sentMails: pagedLoader('sent', ({ sentmail }, query) => sentmail.list({ query })),
  wholeSentMails: keyedLoader(async ({ sentmail }, id) => [await sentmail.get({ id })], {
    isGivenUp: true,
  }),
  mailAccounts: pagedLoader('accounts', ({ mailaccounts }, query) => mailaccounts.list({ query })),
  orgs: pagedLoader('orgs', ({ orgs }, query) => orgs.list({ query })),
  waitingOrgs: pagedLoader('orgs', ({ orgs }, query) =>
    orgs['admin-list']({ query: { ...query, approved: false } }),
  ),
  orgMembers: {
    page: async ({ orgs }, { of, cursor }) => {
      const asked = { id: of ?? '', query: { limit: LIMIT, cursor } };
      const { members, nextCursor } = await orgs.members(asked);
      return { rows: members.map((each) => ({ ...each, id: each.userId })), nextCursor };
    },
  },
  orgInvites: {
    page: async ({ orgs }, { of, cursor }) => {
      const asked = { id: of ?? '', query: { limit: LIMIT, cursor } };
      const { invites, nextCursor } = await orgs.invites(asked);
      return { rows: invites, nextCursor };
    },
  },
  orgSettings: keyedLoader(readOrgSettings, {}),
  things: {
    page: (client, { of, cursor }) => readResourceRows(client, of ?? '', { limit: 50, cursor }),
  },
};
