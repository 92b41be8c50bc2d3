import type { Caller } from '../kernel/contract/endpoint.js';
import { hasScope } from '../kernel/scope.js';
import type { PermissionRow } from '../store/tables/permissions.js';
import type { Tool } from '../tools/tool.js';
import { levelSetBy } from './rules.js';

/** Who asks that a tool be granted. */
type Grantor = Pick<Caller, 'scopes' | 'tokenId' | 'impersonator'>;

/** The body of the 403 for somebody who may not grant tools. */
export interface GrantRefusal {
  code: 'approval_right_missing';
  message: string;
}

/** The rule by which tools are granted, as resources have it. */
export interface GrantRule {
  /** Of names that grant tools: the tools among them that act. */
  acting(names: string[]): string[];
  /** Throws a 403 that names the tools, where there are any and who asks may not grant them. */
  refuse(by: Grantor, acting: string[]): void;
  /** Throws a 403 that names the tools, where what has these tools may not be put to work by who asks. */
  refuseUse(by: Pick<Grantor, 'impersonator'>, names: Iterable<string>): void;
}

/** The scope with which a token may answer approvals, and so grant what would wait for one. */
const RIGHT = 'approvals:write';
/** Of a skill that has many tools. */
const MOST_NAMED = 10;

/**
 * Why somebody may not grant these tools, all of which act; null where they may. A grant is an approval
 * given beforehand: it takes the person, logged in, or a token that names the right to approve.
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
 * Why somebody may not put to work what was granted these tools, all of which act; null where they may.
 * A token may: what a hook or an agent was granted stays granted. Who acts as the person would decide
 * what the call carries, and so give the approval anew.
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

/** Whether a tool has effects or sends bytes to where its arguments say. */
const acts = ({ sideEffects, sendsOut }: Pick<Tool, 'sideEffects' | 'sendsOut'>): boolean =>
  sideEffects || sendsOut;

/**
 * The tools among the named that act, each as `http.request`; a name may stand for a whole skill. A name
 * of no tool counts, since the tool may come later, and so do command-line tools that are models.
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
 * The tools that act and that run unasked at some time after a change of levels and would not have
 * without it: now, and when what was set before or after it is over.
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
