import type { UserRow } from '../store/tables/accounts.js';
import type { PermissionLevel, PermissionRow } from '../store/tables/permissions.js';
import type { Tool } from '../tools/module.js';
import { findCredentialNames } from '../vault/module.js';

export interface EffectivePermissions {
  overrides: Pick<PermissionRow, 'skill_id' | 'action' | 'level'>[];
  /** True if the user has a right, such as `shell` or `mcp`, set by an admin or by role. */
  may(right: string): boolean;
}

export const effectivePermissions = (
  overrides: EffectivePermissions['overrides'],
  user: Pick<UserRow, 'role' | 'permissions'> | undefined,
): EffectivePermissions => {
  const rights: Record<string, unknown> = user ? JSON.parse(user.permissions) : {};
  const may = (right: string): boolean => {
    const own = rights[right];
    return typeof own === 'boolean' ? own : user?.role === 'admin';
  };
  return { overrides, may };
};

export interface CallerTrust {
  isUntrusted: boolean;
  /** Tools such as `http.request`, or whole skills such as `http`, that the owner granted. */
  granted: ReadonlySet<string>;
}

/** Stands for all tools of a skill in an override. */
export const WHOLE_SKILL = '*';

export const OWNER: CallerTrust = { isUntrusted: false, granted: new Set() };

/** Null if the tool is available to the user. */
export const denialReason = (tool: Tool, permissions: EffectivePermissions): string | null => {
  if (tool.unavailable !== null) return tool.unavailable;
  if (tool.needs !== null && !permissions.may(tool.needs)) {
    return `${tool.skillId} requires the permission "${tool.needs}". Ask an admin for the permission`;
  }
  return findOverride(tool, permissions) === 'deny'
    ? `${tool.skillId}.${tool.name} is denied by its owner's permissions`
    : null;
};

/** The level that lists show: that of a trusted call with effects. */
export const getToolLevel = (tool: Tool, permissions: EffectivePermissions): PermissionLevel => {
  if (denialReason(tool, permissions) !== null) return 'deny';
  return levelSetBy(tool, permissions.overrides);
};

/** For a trusted agent, without regard to the rights of the user. */
export const levelSetBy = (
  tool: Tool,
  overrides: EffectivePermissions['overrides'],
): PermissionLevel => findOverride(tool, { overrides }) ?? (tool.sideEffects ? 'ask' : 'allow');

/**
 * `deny` takes precedence over everything, a grant over asking. For an untrusted caller, sending data
 * out is an effect too, and an `allow` does not apply, since it was not set with untrusted input in
 * mind. A grant does not apply if the call names a credential, whose value could be sent to a public
 * place. `because` is shown to a person.
 */
export const judgeToolCall = (
  tool: Tool,
  args: Record<string, unknown>,
  { permissions, trust }: { permissions: EffectivePermissions; trust: CallerTrust },
): { level: PermissionLevel; because: string } => {
  const denied = denialReason(tool, permissions);
  if (denied !== null) return { level: 'deny', because: denied };
  if (trust.isUntrusted && findCredentialNames(args).length > 0) {
    const because = 'it uses a credential, and the agent has read untrusted input';
    return { level: 'ask', because };
  }
  if (trust.isUntrusted && tool.asksUntrusted) {
    const because = 'it has side effects, and the agent has read untrusted input';
    return { level: 'ask', because };
  }
  if (isGranted(tool, trust)) return { level: 'allow', because: 'granted for this run' };
  const override = findOverride(tool, permissions);
  const effect = getEffectReason(tool, args, trust);
  if (effect !== null && trust.isUntrusted) {
    return { level: 'ask', because: `${effect}, and the agent has read untrusted input` };
  }
  if (override) return { level: override, because: `its level is "${override}"` };
  return effect === null
    ? { level: 'allow', because: 'no effect' }
    : { level: 'ask', because: effect };
};

/** Null if the call has no effect. */
const getEffectReason = (
  tool: Tool,
  args: Record<string, unknown>,
  trust: CallerTrust,
): string | null => {
  if (!tool.isSafe(args)) return 'it has side effects';
  return trust.isUntrusted && tool.sendsOut ? 'it sends data out' : null;
};

const isGranted = ({ skillId, name }: Tool, { granted }: CallerTrust): boolean =>
  granted.has(`${skillId}.${name}`) || granted.has(skillId);

/** `deny` of the whole skill wins; otherwise the level of the tool goes before that of the skill. */
const findOverride = (
  { skillId, name }: Tool,
  { overrides }: Pick<EffectivePermissions, 'overrides'>,
): PermissionLevel | undefined => {
  const levelFor = (action: string) =>
    overrides.find((one) => one.skill_id === skillId && one.action === action)?.level;
  const whole = levelFor(WHOLE_SKILL);
  return whole === 'deny' ? whole : (levelFor(name) ?? whole);
};
