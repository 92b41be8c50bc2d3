import Boom from '@hapi/boom';
import { type Clock, iso } from '../kernel/clock.js';
import type { Caller } from '../kernel/contract/endpoint.js';
import { mint } from '../kernel/ids.js';
import { badRequest, resource } from '../kernel/route.js';
import { type PermissionRow, permissionTable } from '../store/tables/permissions.js';
import { retryUntilWritten } from '../store/updateif.js';
import { viewer } from '../store/view.js';
import type { Tool, Toolbox } from '../tools/module.js';
import { Permission, permissions } from './contract.js';
import { type GrantRule, newlyAllowedTools } from './grants.js';
import type { PermissionKey, PermissionsOf, PermissionsStore } from './queries.js';
import { WHOLE_SKILL } from './rules.js';

export interface PermissionsDeps {
  permissions: PermissionsStore;
  toolbox: Toolbox;
  permissionsOf: PermissionsOf;
  clock: Clock;
  grants: GrantRule;
}

export const permissionsResource = (deps: PermissionsDeps) => {
  const { permissions: store, clock } = deps;
  return resource('permissions', permissions, {
    list: async ({ query }, by) => {
      const { rows, nextCursor } = await store.list(by.userId, query, iso(clock.now()));
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
      const kept = await judged(deps, by, row, (read) => store.set(row, read, step));
      return viewPermission(kept);
    },
    reset: async ({ skillId, action }, by) => {
      const key = { user_id: by.userId, skill_id: skillId, action };
      const step = by.record({ target: `${skillId}.${action}` });
      const isReset = await judged(deps, by, key, (read) => store.reset(key, read, step));
      if (!isReset) throw Boom.notFound('No permission is set for that tool');
    },
  });
};

/**
 * A change that lets a tool run without approval is a grant, even the removal of an overriding level.
 * The change is checked again if the levels of the skill have changed since they were read.
 */
const judged = async <T>(
  { permissions: store, toolbox, grants, clock }: PermissionsDeps,
  by: Caller,
  change: PermissionKey & Partial<PermissionRow>,
  write: (read: PermissionRow[]) => Promise<T | null>,
): Promise<T> => {
  const tools = toolbox
    .of(by.userId)
    .list()
    .filter(({ skillId }) => skillId === change.skill_id);
  return retryUntilWritten(async () => {
    const before = await store.ofSkill(by.userId, change.skill_id);
    const others = before.filter(({ action }) => action !== change.action);
    const { skill_id, action, level, expires_at = null } = change;
    const after = level ? [...others, { skill_id, action, level, expires_at }] : others;
    grants.refuse(by, newlyAllowedTools(tools, { before, after, now: iso(clock.now()) }));
    return write(before);
  });
};

/** An MCP server that the user may not use is hidden as if it did not exist. */
const visibleTools = async (
  { toolbox, permissionsOf }: PermissionsDeps,
  userId: string,
): Promise<Tool[]> => {
  const { may } = await permissionsOf(userId);
  return toolbox
    .of(userId)
    .list()
    .filter(({ needs }) => needs !== 'mcp' || may('mcp'));
};

/** A level for a misspelled name would have no effect. */
const refuseUnknown = (visible: Tool[], skillId: string, action: string): void => {
  const tools = visible.filter((tool) => tool.skillId === skillId);
  if (tools.length === 0) {
    const known = [...new Set(visible.map((tool) => tool.skillId))];
    throw refusal('skillId', `is not a known skill. Known skills: ${known.join(', ')}`);
  }
  if (action === WHOLE_SKILL || tools.some(({ name }) => name === action)) return;
  const known = [WHOLE_SKILL, ...tools.map(({ name }) => name)];
  throw refusal('action', `is not a tool of ${skillId}. Known tools: ${known.join(', ')}`);
};

const futureTime = (text: string, now: number): string => {
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw refusal('expiresAt', 'must be a time in ISO 8601');
  if (at <= now) throw refusal('expiresAt', 'must be in the future');
  return iso(at);
};

const refusal = (path: string, message: string): Boom.Boom => badRequest([{ path, message }]);

const viewPermission = viewer(permissionTable, Permission, {});
