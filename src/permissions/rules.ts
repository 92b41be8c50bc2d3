import type { UserRow } from '../store/tables/accounts.js';
import type { PermissionLevel, PermissionRow } from '../store/tables/permissions.js';
import type { Tool } from '../tools/module.js';
import { credentialsIn } from '../vault/module.js';

/** The levels that a user has set for tools, and the rights of the user. */
export interface EffectivePermissions {
  /** The overrides in force. */
  overrides: Pick<PermissionRow, 'skill_id' | 'action' | 'level'>[];
  /** Returns true if the user has a right, such as `shell` or `mcp`, from an admin or by role. */
  may(right: string): boolean;
}

/** Returns the permissions of a user by the levels in force and the user's row. */
export const effectivePermissions = (
  overrides: EffectivePermissions['overrides'],
  user: Pick<UserRow, 'role' | 'permissions'> | undefined,
): EffectivePermissions => {
  const given: Record<string, unknown> = user ? JSON.parse(user.permissions) : {};
  const may = (right: string): boolean => {
    const own = given[right];
    return typeof own === 'boolean' ? own : user?.role === 'admin';
  };
  return { overrides, may };
};

/** The trust in the caller of a tool. The owner, calling directly, is trusted. */
export interface CallerTrust {
  isUntrusted: boolean;
  /** Tools as `http.request`, or a whole skill as `http`, that the owner granted for this run. */
  granted: ReadonlySet<string>;
}

/** The name that stands for all tools of a skill in an override. */
export const WHOLE_SKILL = '*';

/** The trust in the owner's own direct calls. */
export const OWNER: CallerTrust = { isUntrusted: false, granted: new Set() };

/** Returns why the tool is not available to this user at all; null if it is. */
export const whyDenied = (tool: Tool, permissions: EffectivePermissions): string | null => {
  if (tool.unavailable !== null) return tool.unavailable;
  if (tool.needs !== null && !permissions.may(tool.needs)) {
    return `${tool.skillId} takes the permission "${tool.needs}" of its user, which admins have`;
  }
  return overrideOf(tool, permissions) === 'deny'
    ? `${tool.skillId}.${tool.name} is denied by its owner's permissions`
    : null;
};

/** Returns the level of a tool as lists show it: the level of a trusted call with effects. */
export const levelOf = (tool: Tool, permissions: EffectivePermissions): PermissionLevel => {
  if (whyDenied(tool, permissions) !== null) return 'deny';
  return levelSetBy(tool, permissions.overrides);
};

/**
 * Returns the level of a tool for a trusted agent according to the overrides alone, without regard
 * to the rights of the user.
 */
export const levelSetBy = (
  tool: Tool,
  overrides: EffectivePermissions['overrides'],
): PermissionLevel => overrideOf(tool, { overrides }) ?? (tool.sideEffects ? 'ask' : 'allow');

/**
 * Decides on one call. Deny takes precedence over everything. A grant takes precedence over asking:
 * the owner gave it for this run. For an untrusted caller, sending bytes off the machine is a side
 * effect too, and an override that allows does not help, because it was not made with untrusted
 * text in mind. Nor does a grant if the call names a credential: its value could be sent to a
 * public place. `because` is shown to a person.
 */
export const judge = (
  tool: Tool,
  args: Record<string, unknown>,
  { permissions, trust }: { permissions: EffectivePermissions; trust: CallerTrust },
): { level: PermissionLevel; because: string } => {
  const denied = whyDenied(tool, permissions);
  if (denied !== null) return { level: 'deny', because: denied };
  if (trust.isUntrusted && credentialsIn(args).length > 0) {
    const because = 'it uses a credential, and the agent reads what came from outside';
    return { level: 'ask', because };
  }
  if (trust.isUntrusted && tool.asksUntrusted) {
    const because = 'it has side effects, and the agent reads what came from outside';
    return { level: 'ask', because };
  }
  if (isGranted(tool, trust)) return { level: 'allow', because: 'granted for this run' };
  const override = overrideOf(tool, permissions);
  const effect = effectOf(tool, args, trust);
  if (effect !== null && trust.isUntrusted) {
    return { level: 'ask', because: `${effect}, and the agent reads what came from outside` };
  }
  if (override) return { level: override, because: `its level is "${override}"` };
  return effect === null
    ? { level: 'allow', because: 'no effect' }
    : { level: 'ask', because: effect };
};

/** Returns what the call does besides returning a value; null if nothing. */
const effectOf = (tool: Tool, args: Record<string, unknown>, trust: CallerTrust): string | null => {
  if (!tool.isSafe(args)) return 'it has side effects';
  return trust.isUntrusted && tool.sendsOut ? 'it sends bytes off the machine' : null;
};

const isGranted = ({ skillId, name }: Tool, { granted }: CallerTrust): boolean =>
  granted.has(`${skillId}.${name}`) || granted.has(skillId);

/**
 * Returns the override in force for a tool. If both the tool and its whole skill have one, deny
 * wins, otherwise the one for the tool.
 */
const overrideOf = (
  { skillId, name }: Tool,
  { overrides }: Pick<EffectivePermissions, 'overrides'>,
): PermissionLevel | undefined => {
  const levelFor = (action: string) =>
    overrides.find((one) => one.skill_id === skillId && one.action === action)?.level;
  const whole = levelFor(WHOLE_SKILL);
  return whole === 'deny' ? whole : (levelFor(name) ?? whole);
};
