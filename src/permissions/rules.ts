import type { PermissionLevel, PermissionRow } from '../store/tables/permissions.js';
import type { Tool } from '../tools/tool.js';
import { credentialsIn } from '../vault/references.js';

/** What a user has said about tools, and what the user may do at all. */
export interface EffectivePermissions {
  /** Those in force. */
  overrides: Pick<PermissionRow, 'skill_id' | 'action' | 'level'>[];
  /** `shell`, `mcp`: what an admin gave, or the role has. */
  may(right: string): boolean;
}

/** How far the one who calls is to be trusted. The owner, calling directly, is. */
export interface CallerTrust {
  isUntrusted: boolean;
  /** Tools as `http.request`, or all of a skill as `http`, that the owner granted for this run. */
  granted: ReadonlySet<string>;
}

export interface Ruling {
  level: PermissionLevel;
  /** What a person is told about it. */
  because: string;
}

/** The name that stands for all tools of a skill in an override. */
export const WHOLE_SKILL = '*';

/** The owner's own direct calls. */
export const OWNER: CallerTrust = { isUntrusted: false, granted: new Set() };

/** Why the tool is not to be had for this user at all, or null. */
export const whyDenied = (tool: Tool, standing: EffectivePermissions): string | null => {
  if (tool.unavailable !== null) return tool.unavailable;
  if (tool.needs !== null && !standing.may(tool.needs)) {
    return `${tool.skillId} takes the permission "${tool.needs}" of its user, which admins have`;
  }
  return overrideOf(tool, standing) === 'deny'
    ? `${tool.skillId}.${tool.name} is denied by its owner's permissions`
    : null;
};

/** The level of a tool as such, for lists: what a trusted call with effects gets. */
export const levelOf = (tool: Tool, standing: EffectivePermissions): PermissionLevel => {
  if (whyDenied(tool, standing) !== null) return 'deny';
  return levelSetBy(tool, standing.overrides);
};

/** What levels that were set make of a tool for a trusted agent, whatever its user may do at all. */
export const levelSetBy = (
  tool: Tool,
  overrides: EffectivePermissions['overrides'],
): PermissionLevel => overrideOf(tool, { overrides }) ?? (tool.sideEffects ? 'ask' : 'allow');

/**
 * What becomes of one call. Deny beats everything. A grant beats asking: the owner gave it for this
 * very run. For who is untrusted, what sends bytes off the machine is a side effect too, and an
 * override that allows does not help: it was not made with a stranger's words in mind. Nor does a
 * grant where a credential is named: its value could be sent to a place that anybody reads.
 */
export const judge = (
  tool: Tool,
  args: Record<string, unknown>,
  { standing, trust }: { standing: EffectivePermissions; trust: CallerTrust },
): Ruling => {
  const denied = whyDenied(tool, standing);
  if (denied !== null) return { level: 'deny', because: denied };
  if (trust.isUntrusted && credentialsIn(args).length > 0) {
    const because = 'it uses a credential, and the agent reads what came from outside';
    return { level: 'ask', because };
  }
  if (isGranted(tool, trust)) return { level: 'allow', because: 'granted for this run' };
  const override = overrideOf(tool, standing);
  const effect = effectOf(tool, args, trust);
  if (effect !== null && trust.isUntrusted) {
    return { level: 'ask', because: `${effect}, and the agent reads what came from outside` };
  }
  if (override) return { level: override, because: `its level is "${override}"` };
  return effect === null
    ? { level: 'allow', because: 'no effect' }
    : { level: 'ask', because: effect };
};

/** What the call does beyond answering, or null. */
const effectOf = (tool: Tool, args: Record<string, unknown>, trust: CallerTrust): string | null => {
  if (!tool.isSafe(args)) return 'it has side effects';
  return trust.isUntrusted && tool.sendsOut ? 'it sends bytes off the machine' : null;
};

const isGranted = ({ skillId, name }: Tool, { granted }: CallerTrust): boolean =>
  granted.has(`${skillId}.${name}`) || granted.has(skillId);

/** Of one for the tool and one for its whole skill, deny wins, else the one for the tool. */
const overrideOf = (
  { skillId, name }: Tool,
  { overrides }: Pick<EffectivePermissions, 'overrides'>,
): PermissionLevel | undefined => {
  const levelFor = (action: string) =>
    overrides.find((one) => one.skill_id === skillId && one.action === action)?.level;
  const whole = levelFor(WHOLE_SKILL);
  return whole === 'deny' ? whole : (levelFor(name) ?? whole);
};
