import Boom from '@hapi/boom';
import {
  actingTools,
  type GrantRefusal,
  type GrantRule,
  refusalOfGrant,
  refusalOfUse,
} from '../permissions/grants.js';
import type { Toolbox } from '../tools/toolbox.js';

/** The one rule of who may grant tools, over the tools that there are now. */
export const createGrantRule = (toolbox: Pick<Toolbox, 'list'>): GrantRule => ({
  acting: (names) => actingTools(toolbox.list(), names),
  refuse: (by, acting) => refuseFor(refusalOfGrant(by, acting)),
  refuseUse: (by, names) => refuseFor(refusalOfUse(by, actingTools(toolbox.list(), [...names]))),
});

const refuseFor = (refused: GrantRefusal | null): void => {
  if (refused) throw Boom.forbidden(refused.message, { code: refused.code });
};
