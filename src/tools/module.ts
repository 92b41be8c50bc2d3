import type { Base } from '../base.js';
import type { DocumentActions } from '../documents/module.js';
import type { KnowledgeActions } from '../knowledge/module.js';
import type { MemoryActions } from '../memories/module.js';
import type { Confinement } from '../providers/confine/confinement.js';
import type { Vault } from '../vault/module.js';
import type { Delegate } from './agents.js';
import { brokered } from './broker.js';
import type { Notify } from './notify.js';
import type { ToolGroup } from './tool.js';
import { builtInGroups, createToolbox } from './toolbox.js';
import { createWorkFolders } from './workfolders.js';

export type { Delegate, Delegation } from './agents.js';
export type { Notify } from './notify.js';
export {
  defineTool,
  HARMLESS,
  Pending,
  refusal,
  type Tool,
  type ToolContext,
  ToolFailed,
  type ToolGroup,
  type ToolIdentity,
  ToolRefused,
} from './tool.js';
export { faultsOfTools, functionName, type Toolbox } from './toolbox.js';
export type { WorkFolders } from './workfolders.js';

/** The built-in tools that another module carries out. */
export interface ToolHandlers {
  notify: Notify;
  delegate: Delegate;
}

export interface ToolsDeps {
  vault: Vault;
  confinement: Confinement | null;
  /** The search address of a SearXNG instance; see webTools. */
  searchUrl: string | null;
  memories: MemoryActions;
  documents: DocumentActions;
  knowledge: KnowledgeActions;
}

/** Opens the tools that hooks and agents call. */
export const openTools = (base: Base, deps: ToolsDeps) => {
  const { http, clock } = base;
  const { confinement, searchUrl, vault, memories, documents, knowledge } = deps;
  const none: ToolGroup[] = [];
  let handlers: ToolHandlers | null = null;
  let more = (): ToolGroup[] => none;
  const handled = (): ToolHandlers => {
    if (!handlers) throw new Error('no module carries out this tool');
    return handlers;
  };
  const groups = builtInGroups({
    http,
    searchUrl,
    confinement,
    clock,
    memories,
    documents,
    knowledge,
    notify: (...call) => handled().notify(...call),
    delegate: (...call) => handled().delegate(...call),
  });
  return {
    toolbox: brokered(
      createToolbox(groups, () => more()),
      vault,
    ),
    /** The skill IDs of the built-in groups. */
    builtIn: groups.map(({ skillId }) => skillId),
    work: createWorkFolders(base.home),
    /** Registers the functions that carry out `notify.send` and `agents.delegate`. */
    handle: (given: ToolHandlers): void => {
      handlers = given;
    },
    /** Registers groups that may change; `groups` returns the same array until they do. */
    extend: (given: () => ToolGroup[]): void => {
      more = given;
    },
  };
};

export type Tools = ReturnType<typeof openTools>;
