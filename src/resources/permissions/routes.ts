import Boom from '@hapi/boom';
import { type Clock, iso } from '../../kernel/clock.js';
import { mint } from '../../kernel/ids.js';
import { DEFAULT_LIMIT } from '../../kernel/page.js';
import { notAccepted, resource } from '../../kernel/route.js';
import { WHOLE_SKILL } from '../../runtime/permissions/rules.js';
import type { StandingOf } from '../../runtime/permissions/standing.js';
import type { Tool } from '../../runtime/tools/tool.js';
import type { Toolbox } from '../../runtime/tools/toolbox.js';
import type { PermissionRow } from '../../store/tables/permissions.js';
import { type Permission, permissions } from './contract.js';
import type { PermissionsStore } from './store.js';

export interface PermissionsDeps {
  permissions: PermissionsStore;
  toolbox: Toolbox;
  standingOf: StandingOf;
  clock: Clock;
}

export const permissionsResource = (deps: PermissionsDeps) => {
  const { permissions: store, clock } = deps;
  return resource('permissions', permissions, {
    list: async ({ query }, by) => {
      const page = { ...query, limit: query.limit ?? DEFAULT_LIMIT };
      const { rows, nextCursor } = await store.list(by.userId, page, iso(clock.now()));
      return { permissions: rows.map(viewPermission), nextCursor };
    },
    set: async ({ body }, by) => {
      const { skillId, action, level, reason = null, expiresAt = null } = body;
      refuseUnknown(await visibleTools(deps, by.userId), skillId, action);
      const now = clock.now();
      const row = {
        id: mint('permission', now),
        user_id: by.userId,
        skill_id: skillId,
        action,
        level,
        reason,
        expires_at: expiresAt === null ? null : futureTime(expiresAt, now),
        created_at: iso(now),
        updated_at: iso(now),
      };
      const data = { level, expiresAt: row.expires_at };
      const step = by.record({ target: `${skillId}.${action}`, data });
      return viewPermission(await store.set(row, step));
    },
    reset: async ({ skillId, action }, by) => {
      const key = { user_id: by.userId, skill_id: skillId, action };
      const step = by.record({ target: `${skillId}.${action}` });
      if (!(await store.reset(key, step))) throw Boom.notFound('Nothing is set for that tool');
    },
  });
};

/** An MCP server that is not for this user is as if it were not there. */
const visibleTools = async (
  { toolbox, standingOf }: PermissionsDeps,
  userId: string,
): Promise<Tool[]> => {
  const { may } = await standingOf(userId);
  return toolbox.list().filter(({ needs }) => needs !== 'mcp' || may('mcp'));
};

/** What is misspelt would be denied in name only. */
const refuseUnknown = (visible: Tool[], skillId: string, action: string): void => {
  const tools = visible.filter((tool) => tool.skillId === skillId);
  if (tools.length === 0) {
    const known = [...new Set(visible.map((tool) => tool.skillId))];
    throw refusal('skillId', `names no skill; there are: ${known.join(', ')}`);
  }
  if (action === WHOLE_SKILL || tools.some(({ name }) => name === action)) return;
  const known = [WHOLE_SKILL, ...tools.map(({ name }) => name)];
  throw refusal('action', `names no tool of ${skillId}; there are: ${known.join(', ')}`);
};

const futureTime = (text: string, now: number): string => {
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw refusal('expiresAt', 'must be a time in ISO 8601');
  if (at <= now) throw refusal('expiresAt', 'must be in the future');
  return iso(at);
};

const refusal = (path: string, message: string): Boom.Boom => notAccepted([{ path, message }]);

const viewPermission = (row: PermissionRow): Permission => ({
  skillId: row.skill_id,
  action: row.action,
  level: row.level,
  reason: row.reason,
  expiresAt: row.expires_at,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});
