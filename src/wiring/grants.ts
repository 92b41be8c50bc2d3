import Boom from '@hapi/boom';
import { actingTools, type GrantRule, refusalOfGrant } from '../runtime/permissions/grants.js';
import type { Toolbox } from '../runtime/tools/toolbox.js';

/** The one rule of who may grant tools, over the tools that there are now. */
export const createGrantRule = (toolbox: Pick<Toolbox, 'list'>): GrantRule => ({
  acting: (names) => actingTools(toolbox.list(), names),
  refuse: (by, acting) => {
    const refused = refusalOfGrant(by, acting);
    if (refused) throw Boom.forbidden(refused.message, { code: refused.code });
  },
});
