import type { Clock } from '../../kernel/clock.js';
import type { Confinement } from '../../providers/confine/confinement.js';
import { httpTools, type Requester } from './http.js';
import { type Notify, notifyTools } from './notify.js';
import { shellTools } from './shell.js';
import { timeTools } from './time.js';
import type { Tool, ToolGroup } from './tool.js';

/** Every tool there is, those that cannot run here included. */
export interface Toolbox {
  groups(): ToolGroup[];
  list(): Tool[];
  find(skillId: string, name: string): Tool | null;
  /** The tool that a model calls by this function name; see `functionName`. */
  byFunction(name: string): Tool | null;
}

/** The built-in tools. */
export const createToolbox = (deps: {
  http: Requester;
  confinement: Confinement | null;
  notify: Notify;
  clock: Clock;
}): Toolbox =>
  toolboxOf([
    httpTools(deps.http),
    timeTools(deps.clock),
    notifyTools(deps.notify),
    shellTools(deps.confinement),
  ]);

/** Throws where two tools share a function name: a model could not tell them apart. */
export const toolboxOf = (groups: ToolGroup[]): Toolbox => {
  const tools = groups.flatMap((group) => group.tools);
  const functions = new Map(tools.map((tool) => [functionName(tool), tool]));
  if (functions.size < tools.length) throw new Error('Two tools share a function name');
  return {
    groups: () => groups,
    list: () => tools,
    find: (skillId, name) =>
      tools.find((tool) => tool.skillId === skillId && tool.name === name) ?? null,
    byFunction: (name) => functions.get(name) ?? null,
  };
};

/** `http.request` as models take it: `http_request`, with letters, digits, `_` and `-` alone. */
export const functionName = (tool: Pick<Tool, 'skillId' | 'name'>): string =>
  `${tool.skillId}_${tool.name}`.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64);
