import { ApiError } from '../../src/client/errors.js';
import {
  type AdminOrg,
  type AuditEntry,
  type Client,
  contracts,
  type Org,
  type OrgInvite,
  type OrgMember,
} from '../../src/client/index.js';
import { buildColumns } from '../columns.js';
import { type CommandGroup, type Context, command } from '../command.js';
import { crud } from '../crud.js';
import { requestFields, requestFrom } from '../fields.js';
import { freshPasswordFile, withPassword } from '../input.js';
import { everyPage, namePages, requestAll } from '../pages.js';
import { listCommand, requestCommand } from '../request.js';
import { resolveId } from '../resolve.js';
import { localTime, safe } from '../text.js';

const endpoints = await contracts.orgs();
const { org: auditEndpoint } = await contracts.audit();

const columns = buildColumns<Org>(
  ['id:data', 'name=slug', 'title=name', 'role', 'members:number'],
  { name: 'approved', value: ({ approved }) => (approved ? 'yes' : 'no') },
  ['created=createdAt:ago', 'short=id:tail', 'most=maxMembers:data'],
);

export const orgCrud = crud({
  noun: 'org',
  called: 'organization',
  argument: 'org',
  rows: 'orgs',
  endpoints: {
    list: endpoints.list,
    get: endpoints.get,
    update: endpoints.update,
    delete: endpoints.delete,
  },
  columns,
  named: ({ id, slug }) => ({ id, name: slug }),
});

const memberColumns = buildColumns<OrgMember>([
  'id=userId:data',
  'name=username',
  'fullName=displayName',
  'role',
  'joined=createdAt:ago',
  'short=userId:tail',
]);

const memberId = (client: Client, id: string, typed: string): Promise<string> =>
  resolveId(typed, {
    noun: 'user',
    called: 'member',
    listed: 'orgs members list',
    page: namePages(
      'members',
      (query) => client.orgs.members({ id, query }),
      ({ userId, username }) => ({ id: userId, name: username }),
    ),
  });

const withMember = {
  within: async (client: Client, id: string, { member }: { member: string }) => ({
    userId: await memberId(client, id, member),
  }),
};

const create = requestCommand({
  name: 'create',
  args: '<slug>',
  endpoint: endpoints.create,
  examples: [
    'acme --name "Acme Ltd"',
    'acme --name "Acme Ltd" --json',
    'acme --name "Acme Ltd" --fields id',
  ],
  except: ['slug'],
  asks: [],
  areFields: true,
  seeAlso: 'adjutant orgs invites create',
  show: ({ out }, org) => {
    out.done(`Created ${safe(org.slug)}. You are its owner.`, org, columns);
    out.note(
      `Before it can own resources, an admin must approve it: adjutant orgs admin update ${safe(org.slug)} --approved`,
    );
  },
});

const get = orgCrud.request({
  name: 'get',
  args: '<org>',
  endpoint: endpoints.get,
  examples: ['acme', 'acme --json', 'acme --fields name,members'],
  show: async (context, org) => {
    const { out } = context;
    const isForPerson = out.format === 'table' && !out.isChosen;
    out.item(isForPerson ? { ...org, notify: await notifiedNames(context, org) } : org, columns);
  },
});

const notifiedNames = async (context: Context, { id, notify }: Org): Promise<string[]> => {
  if (notify.length === 0) return ['the owners'];
  const client = await context.client();
  const { members } = await everyPage('members', (cursor) =>
    client.orgs.members({ id, query: { limit: 200, ...cursor } }),
  );
  return notify.map((each) => members.find(({ userId }) => userId === each)?.username ?? each);
};

const update = orgCrud.update({
  examples: [
    'acme --name "Acme International Ltd"',
    'acme --notify bob,carol',
    "acme --notify ''",
    'acme --edit',
  ],
  except: ['notify'],
  flags: {
    notify: {
      value: '<members…>',
      about:
        'Usernames of the members who get the notifications of the organization. With an empty text, the owners get them',
      read: (typed) => typed.split(/[\s,]+/).filter((each) => each !== ''),
    },
  },
  body: async (context, { flags, fields, data }, { client, id }) => {
    const names = flags.notify;
    const notify = names && (await requestAll(names, (each) => memberId(client, id, each)));
    const filled = { fields: { ...fields, notify }, data };
    return requestFrom(endpoints.update.body, filled, context.at);
  },
});

const deletion = command({
  name: 'delete',
  args: '<org>',
  calls: [endpoints.delete],
  examples: [
    'acme',
    'acme --resources transfer',
    'acme --resources delete --yes --password-file ./password',
  ],
  fields: () => requestFields(endpoints.delete.body, ['slug', 'password']),
  flags: { passwordFile: freshPasswordFile },
  notes: [
    'The accounts of the members are kept.',
    'If the organization has resources, a terminal asks what to do with them.',
  ],
  run: async (context, { args: { org }, flags, fields }) => {
    const { client, id } = await orgCrud.find(context, org);
    const { slug } = await client.orgs.get({ id });
    const filled = { fields, more: { slug } };
    const body = await requestFrom(endpoints.delete.body, filled, context.at);
    const send = (resources: object) =>
      withPassword(context, flags, (password) =>
        client.call(endpoints.delete, { id, body: { ...body, ...resources, ...password } }),
      );
    await context.ask.confirm(
      `Delete the organization ${safe(org)}? Its members lose it, and its models and MCP servers are deleted.`,
    );
    let { resources } = body;
    try {
      await send({});
    } catch (error) {
      if (!context.ask.isPossible || !ownsResources(error)) throw error;
      resources = (['transfer', 'delete'] as const)[await context.ask.choose(RESOURCES)];
      await send({ resources });
    }
    context.out.note(`Deleted ${safe(org)}.`);
    if (resources === 'transfer')
      context.out.note(
        'Its resources are yours now. Hooks, webhooks and recurring tasks are disabled until you enable them.',
      );
  },
});

const RESOURCES = {
  ask: 'Resources of the organization',
  choices: ['transfer to me', 'delete'],
  instead: '--resources',
};
const ownsResources = (error: unknown): boolean =>
  error instanceof ApiError && error.details.some(({ path }) => path === 'resources');

const join = requestCommand({
  name: 'join',
  args: '<inviteToken>',
  endpoint: endpoints.join,
  examples: ['- < ./invite', '- < ./invite --json', '- < ./invite --fields name,role'],
  areFields: true,
  except: ['inviteToken'],
  mayBePiped: 'inviteToken',
  notes: ['Pass the token on stdin, so that it is not stored in the history of the shell.'],
  show: ({ out }, org) => out.done(`Joined ${safe(org.slug)} as ${org.role}.`, org, columns),
});

const leave = command({
  name: 'leave',
  args: '<org>',
  summary: 'Leave an organization',
  calls: [endpoints['member-remove']],
  examples: ['acme', 'acme --yes', '4ew6rt --yes'],
  run: async (context, { args: { org } }) => {
    const { client, id } = await orgCrud.find(context, org);
    const { id: userId } = await client.auth.me();
    await context.ask.confirm(`Leave the organization ${safe(org)}?`);
    await client.call(endpoints['member-remove'], { id, userId });
    context.out.done(`You left ${safe(org)}.`);
  },
});

const transfer = orgCrud.request({
  name: 'transfer',
  args: '<org> <member>',
  endpoint: endpoints.transfer,
  examples: ['acme bob', 'acme bob --yes', 'acme bob --yes --password-file ./password'],
  isPrivileged: true,
  more: async (_, { args: { member } }, { client, at }) => ({
    userId: await memberId(client, at.id ?? '', member),
  }),
  confirm: ({ args: { org, member } }) =>
    `Transfer ${safe(org)} to ${safe(member)}? You become an admin of it.`,
  show: ({ out }, org, { args: { member } }) =>
    out.done(`Transferred ${safe(org.slug)} to ${safe(member)}.`, org, columns),
});

const auditLog = listCommand({
  endpoint: auditEndpoint,
  name: 'audit',
  args: '<org>',
  examples: ['acme', 'acme --limit 20 --json', 'acme --fields time,who,action'],
  rows: 'entries',
  columns: buildColumns<AuditEntry>(
    ['id:data', 'time=at:time', 'who=actorName', 'action', 'outcome:state'],
    { name: 'data', value: ({ data }) => JSON.stringify(data ?? {}) },
  ),
  within: async (client, { org }) => ({ id: await orgCrud.id(client, org) }),
  next: (rows) => (rows.length === 0 ? 'No entries.' : undefined),
});

export const orgsGroup: CommandGroup = {
  commands: [
    orgCrud.list({
      examples: ['', '--json', '--fields name,role'],
      next: (rows) =>
        rows.length === 0
          ? 'You are in no organization. Create one: adjutant orgs create <slug> --name <name>'
          : undefined,
    }),
    get,
    create,
    update,
    deletion,
    join,
    leave,
    transfer,
    auditLog,
  ],
  notes: ['Identify an organization by its slug, its id, or the last six characters of the id.'],
};

export const orgMembersGroup: CommandGroup = {
  commands: [
    listCommand({
      endpoint: endpoints.members,
      args: '<org>',
      examples: ['acme', 'acme --json', 'acme --fields name,role'],
      rows: 'members',
      columns: memberColumns,
      within: async (client, { org }) => ({ id: await orgCrud.id(client, org) }),
    }),
    orgCrud.request({
      name: 'add',
      args: '<org> <username>',
      endpoint: endpoints['member-add'],
      examples: ['acme bob', 'acme bob --role admin', 'acme bob@example.org'],
      except: ['username'],
      more: (_, { args: { username } }) => ({ username }),
      seeAlso: 'adjutant orgs invites create',
      show: ({ out }, member) =>
        out.done(`Added ${safe(member.username)} as ${member.role}.`, member, memberColumns),
    }),
    orgCrud.request({
      name: 'update',
      args: '<org> <member>',
      endpoint: endpoints['member-update'],
      examples: ['acme bob --role admin', 'acme bob --role owner', 'acme bob --role member --json'],
      except: ['password'],
      isPrivileged: true,
      notes: [
        'To make somebody an owner, a login of the last ten minutes or the password is needed.',
      ],
      ...withMember,
      show: ({ out }, member) =>
        out.done(`${safe(member.username)} is now ${member.role}.`, member, memberColumns),
    }),
    orgCrud.request({
      name: 'remove',
      args: '<org> <member>',
      endpoint: endpoints['member-remove'],
      examples: ['acme bob', 'acme bob --yes', 'acme 4ew6rt --yes'],
      seeAlso: 'adjutant orgs leave',
      ...withMember,
      confirm: ({ args: { org, member } }) => `Remove ${safe(member)} from ${safe(org)}?`,
      show: ({ out }, _, { args: { member } }) => out.note(`Removed ${safe(member)}.`),
    }),
  ],
};

export const orgInvitesGroup: CommandGroup = {
  commands: [
    listCommand({
      endpoint: endpoints.invites,
      args: '<org>',
      examples: ['acme', 'acme --json', 'acme --fields email,role,expires'],
      rows: 'invites',
      columns: buildColumns<OrgInvite>([
        'id:data',
        'email',
        'role',
        'by=invitedBy',
        'expires=expiresAt:time',
        'short=id:tail',
      ]),
      within: async (client, { org }) => ({ id: await orgCrud.id(client, org) }),
      next: (rows) => (rows.length === 0 ? 'No open invites.' : undefined),
    }),
    orgCrud.request({
      name: 'create',
      args: '<org>',
      endpoint: endpoints.invite,
      examples: ['acme', 'acme --email bob@example.org', 'acme --role admin > invite'],
      except: [],
      notes: [
        'The token is printed to stdout, once. It works once, for a user with an account: adjutant orgs join',
      ],
      seeAlso: 'adjutant users invite, for a new account',
      say: ({ out }, { inviteToken, expiresAt }) => {
        out.line(inviteToken);
        out.note(`Works once, until ${localTime(expiresAt)}. Shown only once.`);
        out.note('To use it: adjutant orgs join - < <file>');
      },
    }),
    orgCrud.request({
      name: 'delete',
      args: '<org> <invite>',
      endpoint: endpoints['invite-delete'],
      examples: ['acme 4ew6rt', 'acme 4ew6rt --yes', 'acme bob@example.org --yes'],
      within: async (client, id, { invite }) => ({
        inviteId: await resolveId(invite, {
          noun: 'invite',
          listed: 'orgs invites list',
          page: namePages(
            'invites',
            (query) => client.orgs.invites({ id, query }),
            (row) => ({ id: row.id, name: row.email ?? row.id }),
          ),
        }),
      }),
      confirm: ({ args: { invite } }) => `Delete the invite ${safe(invite)}?`,
      show: ({ out }) => out.note('Deleted.'),
    }),
  ],
};

const adminColumns = buildColumns<AdminOrg>(
  ['id:data', 'name=slug', 'title=name'],
  { name: 'owners', value: ({ owners }) => owners.join(' ') },
  ['members:number', 'most=maxMembers:number'],
  { name: 'approved', value: ({ approved }) => (approved ? 'yes' : 'no') },
  ['created=createdAt:ago', 'short=id:tail'],
);

const adminCrud = crud({
  noun: 'org',
  called: 'organization',
  argument: 'org',
  rows: 'orgs',
  path: 'orgs admin',
  endpoints: { list: endpoints['admin-list'], update: endpoints['admin-update'] },
  columns: adminColumns,
  named: ({ id, slug }) => ({ id, name: slug }),
});

export const orgAdminGroup: CommandGroup = {
  commands: [
    adminCrud.list({ examples: ['', '--no-approved', '--json'] }),
    adminCrud.update({
      examples: [
        'acme --approved',
        'acme --max-members 500',
        'acme --daily-cost-usd 5 --member-daily-cost-usd 1',
        'acme --daily-cost-usd null',
        'acme --no-approved',
      ],
      except: ['password'],
      secrets: ['password'],
      isPrivileged: true,
      notes: [
        'An approval needs a login of the last ten minutes, or the password.',
        'Use null to remove a limit.',
      ],
      message: (_, { slug, approved }) =>
        `Updated: ${slug}, ${approved ? 'approved' : 'not approved'}.`,
    }),
  ],
};
