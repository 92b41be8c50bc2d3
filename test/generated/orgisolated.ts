import { createHash } from 'node:crypto';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { ObjectSchema } from 'joi';
import type { Endpoint } from '../../src/kernel/contract/endpoint.js';
import { hasKey, keyNames } from '../../src/kernel/contract/schema.js';
import { DATABASE } from '../../src/store/engine/protocol.js';
import { type Reply, startApp, type TestApp } from '../harness/app.js';
import { makeToken } from '../harness/token.js';
import { unlike } from './isolated.js';
import { type Ids, oneOfShared } from './oneofeach.js';
import { fill, guarded, type Route } from './routes.js';

/** In every text of the resources of the organization. */
const CANARY = 'acmecanary';

export const OUTSIDERS = ['stranger', 'other', 'installation'] as const;
export const MEMBERS = ['member', 'memberToken'] as const;
type Who = (typeof OUTSIDERS)[number] | (typeof MEMBERS)[number] | 'admin';
type Owner = 'stranger' | 'other' | 'admin';

/** Routes of neither admins of the installation alone nor the SCIM service of an organization. */
const owned = guarded.filter(
  ({ endpoint: { access, shared, scim } }) =>
    (access !== 'admin' || shared !== undefined) && scim === undefined,
);
const isInQuery = ({ query }: Pick<Endpoint, 'query'>): boolean =>
  query !== undefined && hasKey(query, 'orgId');

/** The organization is named by `orgId`, not by the ID of a resource in the path. */
const isNamed = ({ endpoint }: Route) => !endpoint.path.includes('{') || isInQuery(endpoint);
export const withPath = owned.filter((route) => !isNamed(route));
export const withoutPath = owned.filter(({ endpoint }) => !endpoint.path.includes('{'));
const isShared = ({ endpoint }: Route) => endpoint.shared !== undefined;
export const sharedLists = owned.filter((route) => isNamed(route) && isShared(route));
export const lists = withoutPath.filter(
  ({ endpoint: { method, query } }) => method === 'GET' && query,
);

interface Call {
  method: string;
  path: string;
  body?: unknown;
  type?: string;
}

/** A daemon with the organization `acme`, another one, and persons in and outside of them. */
export interface Orgs {
  app: TestApp;
  acme: string;
  other: string;
  tokens: Record<Who, string>;
  /** Resources of `acme`. */
  ids: Ids;
  /** Resources of a person, or of the other organization, made on first use. */
  own(who: Owner): Promise<Ids>;
  /** Every ID of `acme`. */
  hidden: string[];
  /** Checks so far. */
  count(): number;
  /** Faults of a call with something of `acme`, which must be answered as one with an unknown ID. */
  isHidden(who: Who, call: (id: (real: string) => string) => Call): Promise<string[]>;
  /** Faults of a call whose reply must not contain anything of `acme`. */
  isSilent(who: Who, call: Call): Promise<string[]>;
  /** Faults of a call that must be refused for the role, and change nothing. */
  needsAdmin(who: Who, call: Call): Promise<string[]>;
  /** Faults of a call that must succeed. */
  works(who: Who, call: Call): Promise<string[]>;
  /** An ID of `acme` of the kind that a field of a body holds. */
  fitting(field: string[]): string;
  /** Faults of a call of an admin that must have the status of the same call in the other organization. */
  isAllowed(call: Call, own: Call): Promise<string[]>;
  stop(): Promise<void>;
}

export const openOrgs = async (): Promise<Orgs> => {
  const app = await startApp();
  const register = async (name: string) => ({ name, ...(await app.register(name)) });
  const installation = await register('root');
  const owner = await register('owner');
  const admin = await register('admin');
  const member = await register('member');
  const stranger = await register('stranger');
  const foreign = await register('foreign');
  const newOrg = async ({ token }: { token: string }, slug: string): Promise<string> => {
    const { body } = await app.call('POST', '/api/orgs', { token, body: { slug, name: slug } });
    const approval = { token: installation.token, body: { approved: true } };
    await app.call('PATCH', `/api/admin/orgs/${body.id}`, approval);
    return body.id;
  };
  const acme = await newOrg(owner, 'acme');
  const other = await newOrg(foreign, 'other');
  const join_ = (username: string, role: string) =>
    app.call('POST', `/api/orgs/${acme}/members`, {
      token: owner.token,
      body: { username, role },
    });
  await join_('member', 'member');
  await join_('admin', 'admin');
  const invite = await app.call('POST', `/api/orgs/${acme}/invites`, {
    token: owner.token,
    body: {},
  });
  const ids: Ids = {
    ...(await oneOfOrg(forOrg(app, { orgId: acme, word: CANARY }), 'acme', owner.token)),
    orgs: { id: acme, userId: member.id, inviteId: invite.body.id },
    audit: { id: acme },
  };
  const tokens = {
    stranger: stranger.token,
    other: foreign.token,
    installation: installation.token,
    member: member.token,
    memberToken: (await makeToken(app, member.token)).token,
    admin: admin.token,
  };
  const { orgs: _names, audit: _same, ...resources } = ids;
  const hidden = Object.values(resources).flatMap((each) =>
    Object.values(each).filter((id) => id.includes('_')),
  );

  const made = new Map<Owner, Promise<Ids>>();
  const make = (who: Owner): Promise<Ids> => {
    return who === 'other'
      ? oneOfOrg(forOrg(app, { orgId: other, word: 'others' }), 'other', tokens.other)
      : oneOfShared(app, tokens[who]);
  };
  const own = (who: Owner): Promise<Ids> => {
    const ids = made.get(who) ?? make(who);
    made.set(who, ids);
    return ids;
  };

  let checks = 0;
  const snapshot = openSnapshot(app, acme);
  let last = snapshot.take();
  const changed = (): string[] => {
    const before = last;
    last = snapshot.take();
    return Object.keys(last).filter((table) => before[table] !== last[table]);
  };
  const send = (who: Who, { method, path, body, type }: Call) =>
    app.call(method, path, {
      token: tokens[who],
      ...(body !== undefined && method !== 'GET' && { body }),
      ...(type !== undefined && { type }),
    });
  const leaks = (reply: Reply, call: Call): string[] => {
    const asked = JSON.stringify(call);
    return [CANARY, ...hidden].filter((text) => reply.text.includes(text) && !asked.includes(text));
  };
  const report = (who: Who, { method, path, body }: Call, faults: string[]): string[] =>
    faults.map((fault) => `${who} ${method} ${path} ${JSON.stringify(body) ?? ''}: ${fault}`);

  return {
    ...{ app, acme, other, tokens, ids, own, hidden },
    count: () => checks,
    isHidden: async (who, call) => {
      checks++;
      const [real, none] = [call((id) => id), call(unlike)];
      const reply = await send(who, real);
      const touched = changed();
      const expected = await send(who, none);
      changed();
      const [a, b] = [comparable(reply), comparable(expected)];
      return report(who, real, [
        ...(a === b ? [] : [`${a} instead of ${b}`]),
        ...leaks(reply, real).map((text) => `shows ${text}`),
        ...touched.map((table) => `changes ${table}`),
      ]);
    },
    isSilent: async (who, call) => {
      checks++;
      const reply = await send(who, call);
      return report(who, call, [
        ...(reply.status < 500 ? [] : [reply.text]),
        ...leaks(reply, call).map((text) => `shows ${text}`),
        ...changed().map((table) => `changes ${table}`),
      ]);
    },
    needsAdmin: async (who, call) => {
      checks++;
      const { status, body, text } = await send(who, call);
      const isRefused = status === 403 && REFUSALS.includes(body.code);
      return report(who, call, [
        ...(isRefused ? [] : [`${status} ${text}`]),
        ...changed().map((table) => `changes ${table}`),
      ]);
    },
    works: async (who, call) => {
      checks++;
      const { status, text } = await send(who, call);
      changed();
      return report(who, call, status < 300 ? [] : [`${status} ${text}`]);
    },
    fitting: (field) => {
      const name = field.find((key) => key !== '0') ?? '';
      const kind = KINDS[name] ?? name.replace(/Ids?$/, '').toLowerCase();
      return hidden.find((id) => id.startsWith(`${kind}_`)) ?? hidden[0] ?? '';
    },
    isAllowed: async (call, same) => {
      checks++;
      const { status, text } = await send('admin', call);
      const expected = (await send('other', same)).status;
      changed();
      return report('admin', call, status === expected ? [] : [`${text} instead of ${expected}`]);
    },
    stop: async () => {
      snapshot.close();
      await app.stop();
    },
  };
};

/** People own no models and no MCP servers. */
const oneOfOrg = async (app: TestApp, slug: string, token: string): Promise<Ids> => {
  const model = { provider: 'openai-compatible', baseUrl: 'https://nowhere.invalid/v1' };
  const body = { ...model, name: `${slug}/private`, modelId: 'private', apiKey: 'private' };
  const { name } = (await app.call('POST', '/api/models', { token, body })).body;
  const server = { name: `${slug}-private`, url: 'https://nowhere.invalid/mcp' };
  const { id } = (await app.call('POST', '/api/skills/mcp', { token, body: server })).body;
  const skills = { id, name: id, skillId: id, toolName: 'search' };
  return { ...(await oneOfShared(app, token)), models: { name }, skills };
};

/** Of fields whose names differ from their kind. */
const KINDS: Record<string, string> = { blockedBy: 'task', parentId: 'task', sourceId: 'document' };

/** For the role, and for personal access tokens. */
const REFUSALS = ['org_role', 'personal_only', 'scope_missing'];

/** Sends calls of shared endpoints for the organization, and replaces the private words in bodies. */
const forOrg = (app: TestApp, { orgId, word }: { orgId: string; word: string }) => ({
  ...app,
  orgId,
  call: async (method: string, path: string, ask: Parameters<TestApp['call']>[2] = {}) => {
    const { endpoint } = sharedLists.find(({ name }) => name === `${method} ${path}`) ?? {};
    const query = endpoint && isInQuery(endpoint) ? `?orgId=${orgId}` : '';
    const body = ask.body === undefined ? undefined : { ...withWord(ask.body, word) };
    if (body && endpoint && !isInQuery(endpoint)) Object.assign(body, { orgId });
    const reply = await app.call(method, path + query, { ...ask, ...(body && { body }) });
    if (path === '/api/auth/me') reply.body.id = orgId;
    return reply;
  },
});

const withWord = (body: unknown, word: string): object =>
  JSON.parse(JSON.stringify(body).replace(/private|theirs|mine/g, word));

/** The organization in a call of a shared endpoint, as its contract wants it. */
export const naming = (endpoint: Endpoint, orgId: string): Call => {
  const { method, example } = endpoint;
  const path = fill(endpoint.path, (parameter) => parameter);
  if (!isInQuery(endpoint)) return { method, path, body: { ...Object(example), orgId } };
  const at = { method, path: `${path}?orgId=${orgId}` };
  return endpoint.form ? { ...at, ...ONE_FILE } : { ...at, body: example };
};

const ONE_FILE = {
  type: 'multipart/form-data; boundary=x',
  body: [
    ...['--x', 'Content-Disposition: form-data; name="files"; filename="a.txt"', '', 'a text'],
    ...['--x--', ''],
  ].join('\r\n'),
};

/** With another ID of each kind and other times, two replies to calls with the same effect are alike. */
const comparable = ({ status, text }: Reply): string =>
  `${status} ${text
    .replace(/"requestId":"[^"]*"/g, '')
    .replace(/\b[a-z]+_[0-9a-z]{26}\b/g, 'ID')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/"tookMs":[\d.]+|ref \w+ \d+/g, '')}`;

/** Tables whose rows change without a request. */
const OF_WORK = ['jobs', 'lanes'];

/** A digest per table of what belongs to the organization. */
const openSnapshot = (app: TestApp, orgId: string) => {
  const db = new Database(join(app.home, DATABASE), { readonly: true });
  const tables = db
    .prepare<[], { name: string; columns: string }>(
      `SELECT m.name, group_concat(c.name) AS columns FROM sqlite_schema AS m
       JOIN pragma_table_info(m.name) AS c WHERE m.type = 'table' GROUP BY m.name`,
    )
    .all()
    .flatMap(({ name, columns }) => {
      const owner = ['user_id', 'org_id'].find((key) => columns.split(',').includes(key));
      return owner && !OF_WORK.includes(name) ? [{ name, owner }] : [];
    });
  const reads = [
    ...tables.map(({ name, owner }) => ({
      name,
      read: db.prepare(`SELECT * FROM "${name}" WHERE ${owner} = ?`).raw(),
    })),
    { name: 'orgs', read: db.prepare('SELECT * FROM orgs WHERE id = ?').raw() },
    { name: 'users', read: db.prepare('SELECT * FROM users WHERE id = ?').raw() },
  ];
  return {
    take: (): Record<string, string> =>
      Object.fromEntries(
        reads.map(({ name, read }) => {
          const rows = JSON.stringify(read.all(orgId));
          return [name, createHash('sha1').update(rows).digest('hex')];
        }),
      ),
    close: () => db.close(),
  };
};

/** The path with the IDs of these resources; null if there is none of that kind. */
export const pathOf = (
  { area, endpoint }: Route,
  ids: Ids,
  as: (id: string) => string = (id) => id,
): string | null => {
  const found = ids[area];
  if (!found) return null;
  return fill(endpoint.path, (parameter) => as(found[parameter] ?? ''));
};

/** With the example of the contract, so that only the ID can be refused. */
export const callOf = ({ endpoint: { method, example } }: Route, path: string): Call => ({
  ...{ method, path },
  body: example,
});

/** Fields of the body that hold an ID, as paths. */
export const idFields = ({ endpoint }: Route): string[][] =>
  endpoint.body ? fieldsOf(endpoint.body.describe()) : [];

interface Described {
  type?: string;
  keys?: Record<string, Described>;
  items?: Described[];
}

const ID_FIELD = /^(?!org)[a-zA-Z]+Ids?$|^(?:blockedBy|resource)$/;

const fieldsOf = ({ keys = {} }: Described): string[][] =>
  Object.entries(keys).flatMap(([key, of]) =>
    ID_FIELD.test(key)
      ? [of.type === 'array' ? [key, '0'] : [key]]
      : fieldsOf(of).map((below) => [key, ...below]),
  );

/** The example of the contract with a value in a field. */
export const withField = (
  { endpoint }: Route,
  path: string[],
  value: string,
): Record<string, unknown> => {
  const body = structuredClone(endpoint.example ?? {}) as Record<string, unknown>;
  let at: Record<string, unknown> = body;
  for (const [depth, key] of path.entries()) {
    const isLast = depth === path.length - 1;
    const isList = path[depth + 1] === '0';
    at[key] = isLast ? value : (at[key] ?? (isList ? [] : {}));
    at = Object(at[key]);
  }
  return body;
};

/** Keys of the query that hold an ID. */
export const idQueries = ({ endpoint }: Route): string[] =>
  endpoint.query
    ? keyNames(endpoint.query as ObjectSchema).filter((key) => ID_QUERY.test(key))
    : [];

const ID_QUERY = /^(?!org)\w+Id$|^(?:cursor|resource|after)$/;

type Reference = (of: (area: string) => string) => Call;

/** Calls that refer to other resources in ways that the fields of a body do not show. */
export const references: Record<string, Reference> = {
  'the credential of a hook': (of) =>
    newHook({ triggerConfig: { webhookPath: 'ref', webhookCredentialId: of('vault') } }),
  'the credential of a forward': (of) =>
    newHook({
      action: 'webhook',
      actionConfig: { webhookUrl: 'https://example.org/', credentialId: of('vault') },
    }),
  'the template of a hook': (of) =>
    newHook({ action: 'start_pipeline', actionConfig: { templateId: of('templates') } }),
  'the template of a recurring task': (of) =>
    newRecurring('start_pipeline', { templateId: of('templates') }),
  'the hook of a recurring task': (of) => newRecurring('run_hook', { hookId: of('hooks') }),
  'the credential of a webhook': (of) => ({
    ...{ method: 'POST', path: '/api/webhooks' },
    body: { name: 'ref', url: 'https://example.org/', events: ['*'], credentialId: of('vault') },
  }),
  'the template of a stage': (of) => newTemplate('pipeline', { templateId: of('templates') }),
  'the expert of a stage': (of) => newTemplate('agent', { prompt: 'go', expertId: of('experts') }),
  'the parent of a task': (of) => newTask({ parentId: of('tasks') }),
  'the blocker of a task': (of) => newTask({ blockedBy: [of('tasks')] }),
  'the expert of an agent': (of) => ({
    ...{ method: 'POST', path: '/api/agents' },
    body: { prompt: 'go', expertId: of('experts') },
  }),
  'the expert of a chat': (of) => ({
    ...{ method: 'POST', path: '/api/chat?wait=0' },
    body: { message: 'go', expertId: of('experts') },
  }),
  'a document to index': (of) => ({
    ...{ method: 'POST', path: '/api/knowledge/index' },
    body: { documentId: of('documents') },
  }),
  'entries to search': (of) => ({
    ...{ method: 'POST', path: '/api/knowledge/search' },
    body: { query: 'text', filters: { entryIds: [of('knowledge')] } },
  }),
  'entries to ask': (of) => ({
    ...{ method: 'POST', path: '/api/knowledge/ask' },
    body: { question: 'Which text?', filters: { entryIds: [of('knowledge')] } },
  }),
  'a conversation to go on with': (of) => ({
    ...{ method: 'POST', path: '/api/agents' },
    body: { prompt: 'go', sessionId: of('sessions') },
  }),
  'a template to run': (of) => ({
    ...{ method: 'POST', path: '/api/pipelines' },
    body: { templateId: of('templates') },
  }),
  'an approval': (of) => ({
    ...{ method: 'POST', path: '/api/chat/approve' },
    body: { approvalId: of('approvals'), approved: false },
  }),
  'failed runs to replay': (of) => ({
    ...{ method: 'POST', path: '/api/hooks/executions/replay' },
    body: { hookId: of('hooks'), since: '2020-01-01T00:00:00Z' },
  }),
};

const newHook = (more: object): Call => ({
  method: 'POST',
  path: '/api/hooks',
  body: {
    ...{ name: 'ref', trigger: 'webhook', action: 'notify', actionConfig: { notifyMessage: 'x' } },
    triggerConfig: { webhookPath: 'ref', webhookSecret: 'a secret of the tests' },
    ...more,
  },
});
const newTask = (more: object): Call => ({
  method: 'POST',
  path: '/api/tasks',
  body: { title: 'ref', ...more },
});
const newRecurring = (action: string, actionConfig: object): Call => ({
  method: 'POST',
  path: '/api/recurring-tasks',
  body: { title: 'ref', schedule: { cron: '0 9 * * 1' }, action, actionConfig },
});
let templates = 0;
const newTemplate = (kind: string, config: object): Call => ({
  method: 'POST',
  path: '/api/pipelines/templates',
  body: { name: `ref ${kind} ${++templates}`, stages: [{ key: 'one', kind, config }] },
});
