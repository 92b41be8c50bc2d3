import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';

const level = () =>
  s
    .oneOf('PermissionLevel', 'allow', 'ask', 'deny')
    .description(
      'Untrusted agents ask all the same where a call has effects; deny beats everything. To allow what has effects or sends out takes the person or a token with approvals:write',
    );

export const Permission = s.object('Permission', {
  skillId: s.text(100),
  action: s.text(200).description('Name of a tool, or * for all of the skill'),
  level: level(),
  reason: s.nullable(s.text(500)),
  expiresAt: s.nullable(s.time()).description('From then on it is as if it had never been set'),
  createdAt: s.time(),
  updatedAt: s.time(),
});
export type Permission = s.Static<typeof Permission>;

const NewPermission = s.object('NewPermission', {
  skillId: s.text(100),
  action: s.text(200).description('Name of a tool, or * for all of the skill'),
  level: level(),
  reason: s.optional(s.nullable(s.reason(500))),
  expiresAt: s.optional(s.nullable(s.time())),
});

export const permissions = contract({
  list: endpoint.get('/api/skills/permissions', {
    summary: 'List what you have set for tools, as far as it is in force',
    query: pageQuery('PermissionQuery', {
      skillId: s.optional(s.text(100)),
      level: s.optional(level()),
    }),
    reply: pageOf('permissions', Permission),
  }),
  set: endpoint.put('/api/skills/permissions', {
    summary: 'Set the level of a tool or of a whole skill',
    audit: 'permissions.set',
    example: { skillId: 'http', action: 'request', level: 'ask', reason: 'It sends out' },
    body: s.ignoring(NewPermission, 'createdAt', 'updatedAt'),
    reply: Permission,
  }),
  reset: endpoint.delete('/api/skills/permissions/{skillId}/{action}', {
    summary: 'Let a tool have its default level again',
    audit: 'permissions.reset',
  }),
});
