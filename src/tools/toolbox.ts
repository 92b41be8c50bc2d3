import type { Clock } from '../kernel/clock.js';
import type { Confinement } from '../providers/confine/confinement.js';
import { agentsTools, type Delegate } from './agents.js';
import { filesTools } from './files.js';
import { httpTools, type Requester } from './http.js';
import { type Notify, notifyTools } from './notify.js';
import { shellTools } from './shell.js';
import { timeTools } from './time.js';
import type { Tool, ToolGroup } from './tool.js';
import { webTools } from './web.js';

/** All tools, including those that cannot run here. */
export interface Toolbox {
  groups(): ToolGroup[];
  list(): Tool[];
  find(skillId: string, name: string): Tool | null;
}

/** The groups of tools that are part of Adjutant. */
export const builtInGroups = (deps: {
  http: Requester;
  /** The search address of a SearXNG instance; see webTools. */
  searchUrl: string | null;
  confinement: Confinement | null;
  notify: Notify;
  delegate: Delegate;
  clock: Clock;
}): ToolGroup[] => [
  httpTools(deps.http),
  webTools(deps.http, deps.searchUrl),
  timeTools(deps.clock),
  notifyTools(deps.notify),
  agentsTools(deps.delegate),
  filesTools(),
  shellTools(deps.confinement),
];

/**
 * Creates the toolbox. `more` returns groups that may change while the daemon runs; it returns the
 * same array until they do.
 */
export const createToolbox = (builtIn: ToolGroup[], more: () => ToolGroup[]): Toolbox => {
  let before: ToolGroup[] = [];
  let known = toolboxOf(builtIn);
  const present = (): Toolbox => {
    const now = more();
    if (now !== before) known = toolboxOf([...builtIn, ...now]);
    before = now;
    return known;
  };
  return {
    groups: () => present().groups(),
    list: () => present().list(),
    find: (skillId, name) => present().find(skillId, name),
  };
};

/**
 * Creates a toolbox of fixed groups. If two tools have the same function name, only the first is
 * usable, since a model could not tell them apart.
 */
export const toolboxOf = (given: ToolGroup[]): Toolbox => {
  const functions = new Map<string, Tool>();
  const distinct = (tool: Tool): Tool => {
    const name = functionName(tool);
    const first = functions.get(name);
    if (first) return { ...tool, unavailable: `A model could not tell it from ${callName(first)}` };
    functions.set(name, tool);
    return tool;
  };
  const groups = given.map((group) => ({ ...group, tools: group.tools.map(distinct) }));
  const tools = groups.flatMap((group) => group.tools);
  return {
    groups: () => groups,
    list: () => tools,
    find: (skillId, name) =>
      tools.find((tool) => tool.skillId === skillId && tool.name === name) ?? null,
  };
};

const callName = ({ skillId, name }: Tool): string => `${skillId}.${name}`;

/**
 * Returns the name of `http.request` for models: `http_request`, with letters, digits, `_` and `-`
 * only.
 */
export const functionName = (tool: Pick<Tool, 'skillId' | 'name'>): string =>
  `${tool.skillId}_${tool.name}`.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64);
