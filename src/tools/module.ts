import type { Base } from '../base.js';
import type { DocumentActions } from '../documents/module.js';
import type { KnowledgeActions } from '../knowledge/module.js';
import type { MemoryActions } from '../memories/module.js';
import type { Confinement } from '../providers/confine/confinement.js';
import type { WebSearch } from '../providers/search/search.js';
import type { Vault } from '../vault/module.js';
import { brokerCredentials } from './broker.js';
import type { ToolGroup } from './tool.js';
import { builtInGroups, createToolbox, type ToolHandlers } from './toolbox.js';
import { createWorkFolders } from './workfolders.js';

export type { Delegate, Delegation } from './agents.js';
export type { EmailActions, EmailToolCaller, ToolMail } from './email.js';
export type { Notify } from './notify.js';
export type { ResearchActions } from './research.js';
export type { TaskActions, TaskToolCaller, ToolTask } from './tasks.js';
export {
  defineTool,
  HARMLESS,
  PendingResult,
  refusal,
  type Tool,
  type ToolContext,
  ToolFailed,
  type ToolGroup,
  type ToolIdentity,
  ToolRefused,
} from './tool.js';
export {
  functionName,
  isNumericParam,
  type Toolbox,
  toolNameFaults,
  toolParamFaults,
  type UserToolbox,
} from './toolbox.js';
export type { WorkFolders } from './workfolders.js';

export interface ToolsDeps {
  vault: Vault;
  confinement: Confinement | null;
  search: WebSearch;
  memories: MemoryActions;
  documents: DocumentActions;
  knowledge: KnowledgeActions;
}

export const openTools = (base: Base, deps: ToolsDeps) => {
  const { http, clock } = base;
  const { confinement, search, vault, memories, documents, knowledge } = deps;
  const none: ToolGroup[] = [];
  const handlers: Partial<ToolHandlers> = {};
  let more = (): ToolGroup[] => none;
  const handled = <K extends keyof ToolHandlers>(name: K): ToolHandlers[K] => {
    const handler = handlers[name];
    if (!handler) throw new Error('no module handles this tool');
    return handler;
  };
  const groups = builtInGroups({
    http,
    search,
    confinement,
    clock,
    memories,
    documents,
    knowledge,
    handlers: {
      notify: (...call) => handled('notify')(...call),
      delegate: (...call) => handled('delegate')(...call),
      research: {
        start: (...call) => handled('research').start(...call),
        read: (...call) => handled('research').read(...call),
      },
      tasks: {
        list: (...call) => handled('tasks').list(...call),
        create: (...call) => handled('tasks').create(...call),
        update: (...call) => handled('tasks').update(...call),
        complete: (...call) => handled('tasks').complete(...call),
      },
      email: {
        search: (...call) => handled('email').search(...call),
        read: (...call) => handled('email').read(...call),
        draft: (...call) => handled('email').draft(...call),
        send: (...call) => handled('email').send(...call),
        describe: (...call) => handled('email').describe(...call),
      },
    },
  });
  return {
    toolbox: brokerCredentials(
      createToolbox(groups, () => more()),
      vault,
    ),
    /** Skill IDs of the built-in groups. */
    builtIn: groups.map(({ skillId }) => skillId),
    work: createWorkFolders(base.home),
    handle: (given: Partial<ToolHandlers>): void => {
      Object.assign(handlers, given);
    },
    /** `groups` must return the same array until they change. */
    extend: (given: () => ToolGroup[]): void => {
      more = given;
    },
  };
};

export type Tools = ReturnType<typeof openTools>;
