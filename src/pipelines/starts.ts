import { isRounded } from '../kernel/exactjson.js';
import type { FieldFault } from '../kernel/problem.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import { newRunRows } from './runs/newrun.js';
import type { Runs } from './runs/open.js';
import type { PipelineTemplate } from './templates/contract.js';
import { type FindTemplate, nestedTemplates } from './templates/nestedtemplates.js';
import { resolveParameters } from './templates/parameters.js';
import { toolsGrantedBy } from './templates/trust.js';

interface PipelineStart {
  templateId: string;
  params: Record<string, unknown>;
}

/** `steps` write the run. Call `begun` after the commit. */
interface PreparedPipeline {
  id: string;
  steps: TransactionStep[];
  begun(): void;
}

export interface PipelineStarts {
  /** Prepares a run, which is trusted by default. `fault` says why it cannot start. */
  prepare(of: NewStart): Promise<PreparedPipeline | { fault: string }>;
  /** Returns the faults of a start, and the tools that its stages use without approval. */
  check(userId: string, of: StartInput): Promise<StartCheck>;
}

interface NewStart extends PipelineStart {
  userId: string;
  name?: string | undefined;
  untrusted?: boolean;
  hops?: number;
  executionId?: string;
  /** If true, strings are converted to the types of the parameters. */
  isRendered?: boolean;
}

interface StartInput {
  templateId?: string | undefined;
  params?: Record<string, unknown> | undefined;
  /** If true, a string is a template that may become a value of any type. */
  isRendered?: boolean;
}

interface StartCheck {
  faults: FieldFault[];
  tools: string[];
}

/** Includes nested templates. */
export const toolsOfTemplate = async (
  find: FindTemplate,
  userId: string,
  of: Pick<PipelineTemplate, 'id' | 'stages'>,
): Promise<StartCheck> => {
  const { templates, faults } = await nestedTemplates(of, userId, find);
  return {
    faults: faults.map(({ path, message }) => ({
      path: 'templateId',
      message: `refers to a template with an error: ${path} ${message}`,
    })),
    tools: [of, ...templates].flatMap(({ stages }) => toolsGrantedBy(stages)),
  };
};

export const createPipelineStarts = (
  { children, begin }: Pick<Runs, 'children' | 'begin'>,
  find: FindTemplate,
  now: () => number,
): PipelineStarts => ({
  prepare: async ({ userId, templateId, params, isRendered, ...of }) => {
    const template = await find(userId, templateId);
    if (!template)
      return {
        fault: `Unknown pipeline template: ${templateId}. Correct templateId in actionConfig`,
      };
    const { parameters } = template;
    const input = isRendered ? typedValues(parameters, params) : params;
    const { values, faults } = resolveParameters(parameters, input);
    const [fault] = [...faults, ...(await toolsOfTemplate(find, userId, template)).faults];
    if (fault)
      return {
        fault: `${fault.path} ${fault.message}. Correct the params of the start, or the template`,
      };
    const { name, untrusted = false, hops = 0, executionId } = of;
    const start = { userId, template, values, name, untrusted, hops, now: now() };
    const rows = newRunRows({ ...start, ...(executionId !== undefined && { executionId }) });
    const { id } = rows.row;
    return { id, steps: children.insert(rows), begun: () => begin(id) };
  },
  check: async (userId, { templateId, params = {}, isRendered = false }) => {
    const refused = (message: string) => ({
      faults: [{ path: 'templateId', message }],
      tools: [],
    });
    if (templateId === undefined) return refused('is required');
    const template = await find(userId, templateId);
    if (!template) return refused('refers to an unknown template');
    const { parameters } = template;
    const used = await toolsOfTemplate(find, userId, template);
    const open = isRendered
      ? parameters.filter(({ key }) => typeof params[key] === 'string').map(({ key }) => key)
      : [];
    const faults = resolveParameters(parameters, params).faults.filter(
      ({ path }) => !open.includes(path.slice('params.'.length)),
    );
    return { faults: [...faults, ...used.faults], tools: used.tools };
  },
});

const typedValues = (
  parameters: PipelineTemplate['parameters'],
  params: Record<string, unknown>,
): Record<string, unknown> => {
  const types = new Map(parameters.map(({ key, type }) => [key, type]));
  return Object.fromEntries(
    Object.entries(params).map(([key, value]) => [key, typed(types.get(key), value)]),
  );
};

const typed = (type: string | undefined, value: unknown): unknown => {
  if (typeof value !== 'string') return value;
  if (type === 'number' && value.trim() !== '' && !isRounded(value.trim())) return Number(value);
  if (type === 'boolean' && /^(true|false)$/.test(value)) return value === 'true';
  return value;
};
