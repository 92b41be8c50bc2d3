import type { Caller } from '../kernel/contract/endpoint.js';
import { hasScope } from '../kernel/scope.js';
import type { PermissionRow } from '../store/tables/permissions.js';
import type { Tool } from '../tools/tool.js';
import { levelSetBy } from './rules.js';

/** The caller who asks that a tool be granted. */
type Grantor = Pick<Caller, 'scopes' | 'tokenId' | 'impersonator'>;

/** The body of the 403 for a caller who may not grant tools. */
export interface GrantRefusal {
  code: 'approval_right_missing';
  message: string;
}

/** The rule for granting tools, as resources use it. */
export interface GrantRule {
  /** Returns the tools with effects among the named ones. */
  acting(names: string[]): string[];
  /** Throws a 403 that names the tools, if there are any and the caller may not grant them. */
  refuse(by: Grantor, acting: string[]): void;
  /**
   * Throws a 403 that names the tools, if the caller may not start a hook or an agent that has
   * these tools.
   */
  refuseUse(by: Pick<Grantor, 'impersonator'>, names: Iterable<string>): void;
}

/** The scope with which a token may decide on approvals, and so grant tools that would need one. */
const RIGHT = 'approvals:write';
/** The number of tools that a refusal names, for skills that have many. */
const MOST_NAMED = 10;

/**
 * Returns why the caller may not grant these tools, all of which have effects; null if the caller
 * may. A grant is an approval given beforehand: it takes the person, logged in, or a token with the
 * scope to approve.
 */
export const refusalOfGrant = (
  { scopes, tokenId, impersonator }: Grantor,
  acting: string[],
): GrantRefusal | null => {
  if (acting.length === 0) return null;
  const code = 'approval_right_missing';
  const named = sayNames(acting);
  if (impersonator) {
    const message = `An admin who acts as somebody else may not grant ${named}: only the person, logged in, may`;
    return { code, message };
  }
  if (tokenId === null || hasScope(scopes, RIGHT)) return null;
  const message = `This token may not grant ${named}: log in, or use a token with the scope ${RIGHT}`;
  return { code, message };
};

/**
 * Returns why the caller may not use tools that were granted already, all of which have effects;
 * null if the caller may. A token may: tools that a hook or an agent was granted stay granted. An
 * admin who acts as the person may not: the admin would decide what the call contains, and so give
 * the approval anew.
 */
export const refusalOfUse = (
  { impersonator }: Pick<Grantor, 'impersonator'>,
  acting: string[],
): GrantRefusal | null => {
  if (!impersonator || acting.length === 0) return null;
  const named = sayNames(acting);
  const message = `An admin who acts as somebody else may not use ${named}, which the person granted`;
  return { code: 'approval_right_missing', message };
};

const sayNames = (names: string[]): string => {
  const shown = names.slice(0, MOST_NAMED).join(', ');
  const rest = names.length - MOST_NAMED;
  return rest > 0 ? `${shown} and ${rest} more` : shown;
};

/** True if a tool has effects, or sends bytes to a place that its arguments name. */
const acts = ({ sideEffects, sendsOut }: Pick<Tool, 'sideEffects' | 'sendsOut'>): boolean =>
  sideEffects || sendsOut;

/**
 * Returns the tools with effects among the named ones, each as `http.request`; a name may stand for
 * a whole skill. A name of no known tool counts too, since the tool may be added later, and so do
 * command-line tools that serve as models.
 */
export const actingTools = (tools: Tool[], names: string[]): string[] => {
  const found = names.flatMap((name) => {
    const meant = tools.filter(
      (tool) => tool.skillId === name || `${tool.skillId}.${tool.name}` === name,
    );
    if (meant.length === 0) return [name];
    return meant.filter(acts).map((tool) => `${tool.skillId}.${tool.name}`);
  });
  return [...new Set(found)];
};

/** A level that was set for a tool or a skill, as long as it is in force. */
export type SetLevel = Pick<PermissionRow, 'skill_id' | 'action' | 'level' | 'expires_at'>;

/**
 * Returns the tools with effects that a change of levels allows to run without approval and that
 * needed one before it. Both the present and each later time at which a level ends are checked.
 */
export const allowedAnew = (
  tools: Tool[],
  { before, after, now }: { before: SetLevel[]; after: SetLevel[]; now: string },
): string[] => {
  const ends = [...before, ...after].flatMap(({ expires_at }) => expires_at ?? []);
  const times = [now, ...ends.filter((at) => at > now)];
  const isAllowed = (tool: Tool, levels: SetLevel[], at: string): boolean =>
    levelSetBy(
      tool,
      levels.filter(({ expires_at }) => expires_at === null || expires_at > at),
    ) === 'allow';
  return tools
    .filter(acts)
    .filter((tool) =>
      times.some((at) => isAllowed(tool, after, at) && !isAllowed(tool, before, at)),
    )
    .map(({ skillId, name }) => `${skillId}.${name}`);
};
