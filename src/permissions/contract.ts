import { contract } from '../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../kernel/contract/page.js';
import {
  ignoring,
  nullable,
  object,
  oneOf,
  optional,
  reason,
  type Static,
  text,
  time,
} from '../kernel/contract/schema.js';

const level = () =>
  oneOf('PermissionLevel', 'allow', 'ask', 'deny').description(
    'Untrusted agents ask all the same where a call has effects; deny beats everything. To allow what has effects or sends out takes the person or a token with approvals:write',
  );

const Permission = object('Permission', {
  skillId: text(100),
  action: text(200).description('Name of a tool, or * for all of the skill'),
  level: level(),
  reason: nullable(text(500)),
  expiresAt: nullable(time()).description('From then on it is as if it had never been set'),
  createdAt: time(),
  updatedAt: time(),
});
export type Permission = Static<typeof Permission>;

const NewPermission = object('NewPermission', {
  skillId: text(100),
  action: text(200).description('Name of a tool, or * for all of the skill'),
  level: level(),
  reason: optional(nullable(reason(500))),
  expiresAt: optional(nullable(time())),
});

export const permissions = contract({
  list: {
    method: 'GET',
    path: '/api/skills/permissions',
    summary: 'List what you have set for tools, as far as it is in force',
    query: pageQuery('PermissionQuery', {
      skillId: optional(text(100)),
      level: optional(level()),
    }),
    reply: pageOf('permissions', Permission),
  },
  set: {
    method: 'PUT',
    path: '/api/skills/permissions',
    summary: 'Set the level of a tool or of a whole skill',
    audit: 'permissions.set',
    example: { skillId: 'http', action: 'request', level: 'ask', reason: 'It sends out' },
    body: ignoring(NewPermission, 'createdAt', 'updatedAt'),
    reply: Permission,
  },
  reset: {
    method: 'DELETE',
    path: '/api/skills/permissions/{skillId}/{action}',
    summary: 'Let a tool have its default level again',
    audit: 'permissions.reset',
  },
});
