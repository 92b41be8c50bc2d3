import type { Base } from '../base.js';
import type { Toolbox } from '../tools/module.js';
import { createGrantRule } from './grants.js';
import { createPermissionsLoader, permissionsStore } from './queries.js';
import { permissionsResource } from './routes.js';

export type { GrantRule } from './grants.js';
export type { PermissionsOf } from './queries.js';
export {
  type CallerTrust,
  denialReason,
  type EffectivePermissions,
  effectivePermissions,
  getToolLevel,
  judgeToolCall,
  OWNER,
} from './rules.js';

export const openPermissions = (base: Base, { toolbox }: { toolbox: Toolbox }) => {
  const { store, clock } = base;
  const permissionsOf = createPermissionsLoader(store, clock);
  const grants = createGrantRule(toolbox);
  return {
    permissionsOf,
    grants,
    resources: () => [
      permissionsResource({
        permissions: permissionsStore(store),
        toolbox,
        permissionsOf,
        clock,
        grants,
      }),
    ],
  };
};

export type Permissions = ReturnType<typeof openPermissions>;
