import type { DocumentActions } from '../documents/module.js';
import type { Clock } from '../kernel/clock.js';
import { memberAt } from '../kernel/jsonvalue.js';
import { closestWords } from '../kernel/nearest.js';
import type { KnowledgeActions } from '../knowledge/module.js';
import type { MemoryActions } from '../memories/module.js';
import type { Confinement } from '../providers/confine/confinement.js';
import type { WebSearch } from '../providers/search/search.js';
import { agentsTools, type Delegate } from './agents.js';
import { documentTools } from './documents.js';
import { type EmailActions, emailTools } from './email.js';
import { filesTools } from './files.js';
import { httpTools, type Requester } from './http.js';
import { knowledgeTools } from './knowledge.js';
import { memoryTools } from './memory.js';
import { type Notify, notifyTools } from './notify.js';
import { type ResearchActions, researchTools } from './research.js';
import { shellTools } from './shell.js';
import { type TaskActions, tasksTools } from './tasks.js';
import { timeTools } from './time.js';
import type { Tool, ToolGroup, ToolIdentity } from './tool.js';
import { webTools } from './web.js';

/** Carried out by other modules. */
export interface ToolHandlers {
  notify: Notify;
  delegate: Delegate;
  research: ResearchActions;
  tasks: TaskActions;
  email: EmailActions;
}

export interface BuiltInDeps {
  http: Requester;
  search: WebSearch;
  confinement: Confinement | null;
  handlers: ToolHandlers;
  memories: MemoryActions;
  documents: DocumentActions;
  knowledge: KnowledgeActions;
  clock: Clock;
}

export const builtInGroups = (deps: BuiltInDeps): ToolGroup[] => [
  httpTools(deps.http),
  webTools({ http: deps.http, search: deps.search, readPage: deps.documents.readPage }),
  timeTools(deps.clock),
  notifyTools(deps.handlers.notify),
  memoryTools(deps.memories),
  documentTools(deps.documents),
  knowledgeTools(deps.knowledge),
  researchTools(deps.handlers.research),
  tasksTools(deps.handlers.tasks),
  emailTools(deps.handlers.email),
  agentsTools(deps.handlers.delegate),
  filesTools(),
  shellTools(deps.confinement),
];

/** `more` returns the same array until its groups change. */
export const createToolbox = (builtIn: ToolGroup[], more: () => ToolGroup[]): Toolbox => {
  let before: ToolGroup[] = [];
  let known = distinct(builtIn);
  return toolboxFromGroups(() => {
    const now = more();
    if (now !== before) known = distinct([...builtIn, ...now]);
    before = now;
    return known;
  });
};

/** Reads the groups at each use. Includes unavailable tools. */
export const toolboxFromGroups = (groups: () => ToolGroup[]) => ({
  /** Of all organizations. */
  groups,
  /** Tools of a user, or of an organization. */
  of: (userId: string) => {
    const list = (): Tool[] =>
      groups().flatMap(({ orgId = userId, tools }) => (orgId === userId ? tools : []));
    return {
      list,
      find: (skillId: string, name: string): Tool | null =>
        list().find((tool) => tool.skillId === skillId && tool.name === name) ?? null,
    };
  },
});

export type Toolbox = ReturnType<typeof toolboxFromGroups>;
export type UserToolbox = ReturnType<Toolbox['of']>;

/** A model could not distinguish tools with the same function name. */
const distinct = (given: ToolGroup[]): ToolGroup[] => {
  const functions = new Map<string, Tool>();
  const marked = (tool: Tool, orgId: string | undefined): Tool => {
    const name = functionName(tool);
    const own = orgId === undefined ? name : `${orgId} ${name}`;
    const first = functions.get(name) ?? functions.get(own);
    if (first)
      return { ...tool, unavailable: `Its function name is already used by ${callName(first)}` };
    functions.set(own, tool);
    return tool;
  };
  // Organizations take no names from the installation, and none from each other.
  const ordered = [
    ...given.filter(({ orgId }) => orgId === undefined),
    ...given.filter(({ orgId }) => orgId !== undefined),
  ];
  return ordered.map((group) => ({
    ...group,
    tools: group.tools.map((tool) => marked(tool, group.orgId)),
  }));
};

const callName = ({ skillId, name }: ToolIdentity): string => `${skillId}.${name}`;

/** `http.request` becomes `http_request`. */
export const functionName = (tool: ToolIdentity): string =>
  `${tool.skillId}_${tool.name}`.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64);

/** `others` are names that grant something else and are valid. */
export const toolNameFaults = (
  toolbox: Pick<UserToolbox, 'list'>,
  names: string[],
  others: string[] = [],
): { at: number; message: string }[] => {
  const tools = toolbox.list();
  // `http.request`, or `http` for all tools of a skill.
  const known = tools.map(callName);
  const granting = new Set([...known, ...tools.map(({ skillId }) => skillId), ...others]);
  return names.flatMap((name, at) =>
    granting.has(name)
      ? []
      : [{ at, message: `names an unknown tool: ${name.slice(0, 100)}${advice(name, known)}` }],
  );
};

const advice = (name: string, known: string[]): string => {
  const near = closestWords(name.slice(0, 100), known, NEAREST);
  return `${near.length > 0 ? `; closest names: ${near.join(', ')}` : ''}; all tools: GET ${LIST}`;
};
const NEAREST = 3;
const LIST = '/api/skills/tools/all';

/** Checks names and required arguments before the values are known. */
export const toolParamFaults = (
  toolbox: Pick<UserToolbox, 'find'>,
  { toolId, toolAction }: { toolId: string; toolAction: string },
  params: Record<string, unknown>,
): { path: string; message: string }[] => {
  const { inputSchema } = toolbox.find(toolId, toolAction) ?? {};
  if (!inputSchema) return [];
  const { properties, required, additionalProperties } = inputSchema;
  const known =
    typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
  const needed: unknown[] = Array.isArray(required) ? required : [];
  const unknown = Object.keys(params).filter((key) => !known.includes(key));
  const there =
    known.length > 0
      ? `valid arguments: ${known.join(', ').slice(0, LONGEST)}`
      : 'it takes no arguments';
  return [
    ...(additionalProperties === false
      ? unknown.map((path) => ({ path, message: `is not an argument of the tool; ${there}` }))
      : []),
    ...needed
      .filter((key) => typeof key === 'string' && params[key] === undefined)
      .map((key) => ({ path: String(key), message: 'is required by the tool' })),
    ...Object.entries(params)
      .filter(([key, value]) => !isAcceptable(getParameterTypes(inputSchema, key), value))
      .map(([path]) => ({ path, message: 'must be a string' })),
  ];
};

/** Only strings are checked here. Other types are checked when the tool runs. */
const isAcceptable = (types: unknown[], value: unknown): boolean => {
  if (value === undefined || typeof value === 'string') return true;
  if (value === null && types.includes('null')) return true;
  return types.length === 0 || types.some((type) => type !== 'string' && type !== 'null');
};

const getParameterTypes = (inputSchema: Tool['inputSchema'], key: string): unknown[] =>
  [memberAt(inputSchema, 'properties', key, 'type') ?? []].flat();

/** Whether the argument is a number, which may be written in any form. */
export const isNumericParam = (
  toolbox: Pick<UserToolbox, 'find'>,
  { toolId, toolAction }: { toolId: string; toolAction: string },
  key: string,
): boolean => {
  const { inputSchema } = toolbox.find(toolId, toolAction) ?? {};
  const types = (inputSchema ? getParameterTypes(inputSchema, key) : []).filter(
    (type) => type !== 'null',
  );
  return types.length > 0 && types.every((type) => type === 'number' || type === 'integer');
};

/** Maximum length of a list that grows with connected servers. */
const LONGEST = 700;
