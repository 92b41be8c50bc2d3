import Boom from '@hapi/boom';
import type { Caller } from '../kernel/contract/endpoint.js';
import { hasScope } from '../kernel/scope.js';
import type { PermissionRow } from '../store/tables/permissions.js';
import type { Tool, Toolbox } from '../tools/module.js';
import { levelSetBy } from './rules.js';

/** The caller who asks that a tool be granted. */
type Grantor = Pick<Caller, 'scopes' | 'tokenId' | 'impersonator'>;

/** The scope with which a token may decide on approvals, and so grant tools that would need one. */
const RIGHT = 'approvals:write';
/** The number of tools that a refusal names, for skills that have many. */
const MAX_NAMED = 10;

/** Creates the one rule of who may grant tools, over the tools that there are now. */
export const createGrantRule = (toolbox: Pick<Toolbox, 'list'>) => {
  /**
   * Returns the tools with effects among the named ones, each as `http.request`; a name may stand for
   * a whole skill. A name of no known tool counts too, since the tool may be added later, and so do
   * command-line tools that serve as models.
   */
  const acting = (names: Iterable<string>): string[] => {
    const tools = toolbox.list();
    const found = [...names].flatMap((name) => {
      const meant = tools.filter((tool) => tool.skillId === name || nameOf(tool) === name);
      return meant.length === 0 ? [name] : meant.filter(acts).map(nameOf);
    });
    return [...new Set(found)];
  };

  return {
    acting,
    /**
     * Throws a 403 that names the tools, all of which have effects, if the caller may not grant them.
     * A grant is an approval given beforehand: it takes the person, logged in, or a token with the
     * scope to approve.
     */
    refuse: ({ scopes, tokenId, impersonator }: Grantor, tools: string[]): void => {
      if (tools.length === 0) return;
      const named = sayNames(tools);
      if (impersonator) {
        throw forbidden(
          `An admin who acts as somebody else may not grant ${named}: only the person, logged in, may`,
        );
      }
      if (tokenId === null || hasScope(scopes, RIGHT)) return;
      throw forbidden(
        `This token may not grant ${named}: log in, or use a token with the scope ${RIGHT}`,
      );
    },
    /**
     * Throws a 403 that names the tools, if the caller may not start a hook or an agent that was
     * granted these tools already. A token may: what was granted stays granted. An admin who acts as
     * the person may not: the admin would decide what the call contains, and so give the approval
     * anew.
     */
    refuseUse: ({ impersonator }: Pick<Grantor, 'impersonator'>, names: Iterable<string>): void => {
      const tools = impersonator ? acting(names) : [];
      if (tools.length === 0) return;
      throw forbidden(
        `An admin who acts as somebody else may not use ${sayNames(tools)}, which the person granted`,
      );
    },
  };
};

export type GrantRule = ReturnType<typeof createGrantRule>;

const forbidden = (message: string): Boom.Boom =>
  Boom.forbidden(message, { code: 'approval_right_missing' });

const nameOf = ({ skillId, name }: Tool): string => `${skillId}.${name}`;

const sayNames = (names: string[]): string => {
  const shown = names.slice(0, MAX_NAMED).join(', ');
  const rest = names.length - MAX_NAMED;
  return rest > 0 ? `${shown} and ${rest} more` : shown;
};

/** True if a tool has effects, or sends bytes to a place that its arguments name. */
const acts = ({ sideEffects, sendsOut }: Pick<Tool, 'sideEffects' | 'sendsOut'>): boolean =>
  sideEffects || sendsOut;

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
    .map(nameOf);
};
