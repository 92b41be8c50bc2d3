import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { createPageSchema, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';

const level = () =>
  s
    .oneOf('PermissionLevel', 'allow', 'ask', 'deny')
    .description(
      'Permission level of the tool. `deny` takes precedence over all other levels and approvals. Even with `allow`, agents that have read content from outside need an approval for calls with side effects. Setting `allow` for a tool that has side effects or sends data out requires a login or a token with `approvals:write`',
    );

export const Permission = s.object('Permission', {
  orgId: s.orgId(),
  skillId: s.text(100),
  action: s.text(200).description('Name of the tool, or `*` for all tools of the skill'),
  level: level(),
  reason: s.nullable(s.text(500)).description('Reason for the permission. `null` if there is none'),
  expiresAt: s
    .nullable(s.time())
    .description(
      'Time at which the default level applies again. `null` if the permission does not expire',
    ),
  createdAt: s.time(),
  updatedAt: s.time(),
});
export type Permission = s.Static<typeof Permission>;

const NewPermission = s.object('NewPermission', {
  skillId: s.text(100),
  action: s.text(200).description('Name of the tool, or `*` for all tools of the skill'),
  level: level(),
  reason: s.optional(
    s.nullable(s.reason(500)).description('Reason for the permission. `null` if there is none'),
  ),
  expiresAt: s.optional(
    s
      .nullable(s.moment())
      .description(
        'Time at which the default level applies again. `null`, the default, sets no end',
      ),
  ),
});

export const permissions = contract({
  list: endpoint.get('/api/skills/permissions', {
    shared: 'member',
    unmerged: true,
    summary: 'List the permission levels that you set for tools',
    description:
      'The permission level of a tool decides about the calls of agents: `allow`, `ask` (each call needs your approval) or `deny`. Tools without a permission have their default level. Expired permissions are not included.',
    query: pageQuery('PermissionQuery', {
      skillId: s.optional(s.text(100)),
      level: s.optional(level()),
    }),
    reply: createPageSchema('permissions', Permission),
  }),
  set: endpoint.put('/api/skills/permissions', {
    shared: 'admin',
    summary: 'Set the permission level of a tool or skill',
    audit: 'permissions.set',
    example: { skillId: 'http', action: 'request', level: 'ask', reason: 'It sends out' },
    body: s.ignoreReadOnly(NewPermission, 'createdAt', 'updatedAt'),
    reply: Permission,
  }),
  reset: endpoint.delete('/api/skills/permissions/{skillId}/{action}', {
    shared: 'admin',
    query: s.withOrgId(undefined),
    summary: 'Reset a tool to its default permission level',
    description: 'The default permission level of the tool then applies again.',
    audit: 'permissions.reset',
  }),
});
