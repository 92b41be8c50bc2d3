import { join } from 'node:path';
import type { Approvals } from '../approvals/module.js';
import type { Base } from '../base.js';
import type { Permissions } from '../permissions/module.js';
import type { Confinement } from '../providers/confine/confinement.js';
import type { Secrets } from '../secrets/module.js';
import type { Tools } from '../tools/module.js';
import { skillsResource } from './routes.js';
import { createServers } from './servers.js';
import { createSkills, reservedSkillNames } from './skills.js';

export type { Skills } from './skills.js';

export interface SkillsModuleDeps {
  secrets: Secrets;
  tools: Tools;
  permissions: Permissions;
  approvals: Approvals;
  confinement: Confinement | null;
  version: string;
}

export const openSkills = (base: Base, deps: SkillsModuleDeps) => {
  const { store, clock, log, http, home } = base;
  const { tools, confinement, version, approvals } = deps;
  const { permissionsOf, grants } = deps.permissions;
  const { toolbox, builtIn, work } = tools;
  const reserved = reservedSkillNames(builtIn);
  const servers = createServers({
    store,
    clock,
    log,
    http,
    home,
    file: join(home, 'mcp.json'),
    sealer: deps.secrets.sealers.mcp,
    confinement,
    version,
    reserved,
    folderOf: work.open,
  });
  const skills = createSkills({ home, clock, log, servers, reserved });
  tools.extend(skills.groups);
  return {
    skills,
    resources: () => [
      skillsResource({
        ...{ skills, toolbox, permissionsOf, grants, approvals },
        folderOf: work.open,
        isAdmin: async (userId) => {
          const user = store.db.selectFrom('users').select('role').where('id', '=', userId);
          return (await user.executeTakeFirst())?.role === 'admin';
        },
      }),
    ],
  };
};
