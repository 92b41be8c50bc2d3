import type { Client, contracts, Endpoint } from '../src/client/index.js';
import { valueAt } from './columns.js';
import type { CliCommand, Context } from './command.js';
import { orgSlugs } from './orgslugs.js';
import { type NamedKind, resolveId } from './resolve.js';
import { plainText } from './text.js';

type KindOf = (client: Client) => Promise<NamedKind> | NamedKind;

/** The rows of a resource, from the list of its contract. */
const listed =
  (
    noun: string,
    resource: keyof typeof contracts,
    more: { by?: string; command?: string; called?: string } = {},
  ) =>
  async (client: Client): Promise<NamedKind> => {
    const { by = 'name', command = `${resource} list`, called } = more;
    const { contracts } = await import('../src/client/index.js');
    const { list }: Record<string, Endpoint> = await contracts[resource]();
    if (!list) throw new TypeError(`${resource} has no list`);
    const page = async (cursor: string | undefined) => {
      const reply: unknown = await client.call(list, { query: { limit: 200, cursor } });
      const rows: unknown[] = Object.values(Object(reply)).find(Array.isArray) ?? [];
      const nextCursor = valueAt(reply, 'nextCursor');
      return {
        rows: rows.map((row) => ({
          id: plainText(valueAt(row, 'id')),
          name: plainText(valueAt(row, by) ?? ''),
          isShipped: valueAt(row, 'preset') === true,
          orgId: valueAt(row, 'orgId'),
        })),
        nextCursor: typeof nextCursor === 'string' ? nextCursor : null,
      };
    };
    return { noun, called, listed: command, page, slugs: () => orgSlugs(client) };
  };

const kinds = {
  agent: listed('agent', 'agents'),
  approval: listed('approval', 'approvals', { by: 'id' }),
  channel: listed('channel', 'channels'),
  credential: listed('credential', 'vault'),
  document: listed('document', 'documents', { by: 'filename' }),
  expert: listed('expert', 'experts'),
  folder: listed('folder', 'folders', { command: 'knowledge folders list' }),
  hook: listed('hook', 'hooks'),
  mailaccount: listed('mailaccount', 'mailaccounts', {
    by: 'address',
    command: 'email accounts list',
  }),
  knowledge: listed('entry', 'knowledge', { by: 'title' }),
  org: listed('org', 'orgs', { by: 'slug', called: 'organization' }),
  readertask: listed('readertask', 'reader', { by: 'title' }),
  research: listed('research', 'research', { by: 'question' }),
  session: listed('session', 'sessions', { by: 'title' }),
  skill: listed('skill', 'skills'),
  task: listed('task', 'tasks', { by: 'title' }),
  template: listed('template', 'templates', { command: 'pipelines templates list' }),
  user: listed('user', 'users', { by: 'username' }),
  webhook: listed('webhook', 'webhooks'),
  execution: async (client: Client) => (await import('./agents/agent.js')).executionKind(client),
  pipeline: async (client: Client) => (await import('./pipelines/kind.js')).runKind(client),
} satisfies Record<string, KindOf>;

const isKind = (word: string): word is keyof typeof kinds => Object.hasOwn(kinds, word);

/** Fields of requests that hold an id, and the kind of the row. */
const FIELDS: Record<string, keyof typeof kinds> = {
  agentId: 'agent',
  rootId: 'agent',
  assignee: 'agent',
  actorId: 'user',
  approvalId: 'approval',
  blockedBy: 'task',
  channelId: 'channel',
  credentialId: 'credential',
  executionId: 'execution',
  expertId: 'expert',
  accountId: 'mailaccount',
  hookId: 'hook',
  orgId: 'org',
  sessionId: 'session',
  skillId: 'skill',
  templateId: 'template',
  webhookId: 'webhook',
};

/** Fields whose kind depends on the command group. */
const OWN: Record<string, keyof typeof kinds> = {
  'tasks parentId': 'task',
  'pipelines parentId': 'pipeline',
};

export const kindOfField = (group: string, path: string): string | undefined => {
  const field = path.split('.').at(-1) ?? path;
  return FIELDS[field] ?? OWN[`${group} ${field}`];
};

/** Words that are accepted instead of an id. */
const isOtherWord = (kind: string, typed: string): boolean =>
  typed === '' || typed === (kind === 'org' ? 'personal' : 'me');

/** Lets the command accept names and ends of ids for fields of its requests that are ids. */
export const withWholeIds = (command: CliCommand, entry: string): CliCommand => {
  const [group = ''] = entry.split(' ');
  const whole = (context: Context, path: string, value: unknown): unknown => {
    if (Array.isArray(value)) return Promise.all(value.map((each) => whole(context, path, each)));
    if (typeof value !== 'string') return value;
    if (path === 'resource') return wholeResource(context, value);
    const kind = kindOfField(group, path);
    return kind === undefined ? value : wholeId(context, kind, value);
  };
  return {
    ...command,
    run: async (context, input) => {
      const fields = Object.entries(input.fields).map(async ([path, value]) => [
        path,
        await whole(context, path, value),
      ]);
      await command.run(context, {
        ...input,
        fields: Object.fromEntries(await Promise.all(fields)),
      });
    },
  };
};

const wholeId = async (context: Context, kind: string, typed: string): Promise<string> => {
  if (!isKind(kind) || isOtherWord(kind, typed)) return typed;
  const client = await context.client();
  return resolveId(typed, await kinds[kind](client));
};

/** Completes the id in `document:9x2k4q`. */
const wholeResource = async (context: Context, typed: string): Promise<string> => {
  const [, kind = '', id = ''] = /^([a-z_]+):(.+)$/.exec(typed) ?? [];
  return isKind(kind) ? `${kind}:${await wholeId(context, kind, id)}` : typed;
};
