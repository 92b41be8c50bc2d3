import Boom from '@hapi/boom';
import type { Caller } from '../kernel/contract/endpoint.js';
import { hasScope } from '../kernel/scope.js';
import type { PermissionRow } from '../store/tables/permissions.js';
import type { Tool, Toolbox } from '../tools/module.js';
import { levelSetBy } from './rules.js';

type Grantor = Pick<Caller, 'userId' | 'scopes' | 'tokenId' | 'impersonator' | 'member'>;

/** The scope to decide on approvals, and thus to grant tools that would need one. */
const RIGHT = 'approvals:write';
/** Maximum number of tools that an error message names. */
const MAX_NAMED = 10;

export const createGrantRule = (toolbox: Pick<Toolbox, 'of'>) => {
  /**
   * Returns the named tools that have effects, each as `http.request`; a name may stand for a whole
   * skill. Unknown names count, since the tool may be added later, and so do command-line tools that
   * serve as models.
   */
  const acting = (userId: string, names: Iterable<string>): string[] => {
    const tools = toolbox.of(userId).list();
    const found = [...names].flatMap((name) => {
      const meant = tools.filter((tool) => tool.skillId === name || formatToolName(tool) === name);
      return meant.length === 0 ? [name] : meant.filter(acts).map(formatToolName);
    });
    return [...new Set(found)];
  };

  return {
    acting,
    /**
     * Throws 403 if the caller may not grant these tools. A grant is an approval in advance, so it
     * requires a logged-in user, or a token with the scope to approve.
     */
    refuse: (
      { scopes, tokenId, impersonator, member }: Omit<Grantor, 'userId'>,
      tools: string[],
    ): void => {
      if (tools.length === 0) return;
      const named = formatNames(tools);
      if (member?.role === 'member') {
        throw forbidden(`Only owners and admins of the organization may grant ${named}`);
      }
      if (impersonator) {
        throw forbidden(
          `An admin who impersonates a user may not grant ${named}. Only the user can, when logged in`,
        );
      }
      if (tokenId === null || hasScope(scopes, RIGHT)) return;
      throw forbidden(
        `This token may not grant ${named}. Log in, or use a token with the scope ${RIGHT}`,
      );
    },
    /**
     * Throws 403 if the caller may not start a hook or an agent that was granted these tools. Tokens
     * may. An impersonating admin may not, since the admin would choose the content of the call and
     * thus give the approval again.
     */
    refuseUse: (
      { userId, impersonator, member }: Pick<Grantor, 'userId' | 'impersonator' | 'member'>,
      names: Iterable<string>,
    ): void => {
      const isMember = member?.role === 'member';
      const tools = impersonator || isMember ? acting(userId, names) : [];
      if (tools.length === 0) return;
      if (isMember) {
        throw forbidden(
          `Only owners and admins of the organization may use ${formatNames(tools)}, which one of them granted`,
        );
      }
      throw forbidden(
        `An admin who impersonates a user may not use ${formatNames(tools)}, which the user granted`,
      );
    },
  };
};

export type GrantRule = ReturnType<typeof createGrantRule>;

const forbidden = (message: string): Boom.Boom =>
  Boom.forbidden(message, { code: 'approval_right_missing' });

const formatToolName = ({ skillId, name }: Tool): string => `${skillId}.${name}`;

const formatNames = (names: string[]): string => {
  const shown = names.slice(0, MAX_NAMED).join(', ');
  const rest = names.length - MAX_NAMED;
  return rest > 0 ? `${shown} and ${rest} more` : shown;
};

/** True if a tool has effects, or sends data to an address in its arguments. */
const acts = ({ sideEffects, sendsOut }: Pick<Tool, 'sideEffects' | 'sendsOut'>): boolean =>
  sideEffects || sendsOut;

export type SetLevel = Pick<PermissionRow, 'skill_id' | 'action' | 'level' | 'expires_at'>;

/**
 * Returns the tools with effects that needed an approval before a change of levels and do not need
 * one after it, now or at any later time at which a level expires.
 */
export const newlyAllowedTools = (
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
    .map(formatToolName);
};
