import { isRounded } from '../kernel/exactjson.js';
import type { FieldFault } from '../kernel/problem.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import { newRunRows } from './runs/newrun.js';
import type { Runs } from './runs/open.js';
import type { PipelineTemplate } from './templates/contract.js';
import { type FindTemplate, nestedTemplates } from './templates/nestedtemplates.js';
import { givenParameters } from './templates/parameters.js';
import { toolsGrantedBy } from './templates/trust.js';

/** The run of a pipeline that another module starts for its owner. */
interface PipelineStart {
  templateId: string;
  params: Record<string, unknown>;
}

/** A run that is written by the steps of a transaction, and goes on by `begun` after it. */
interface PreparedPipeline {
  id: string;
  steps: TransactionStep[];
  begun(): void;
}

/** The starts of runs by other modules. */
export interface PipelineStarts {
  /** Prepares a run, trusted unless it says otherwise. `fault`: why it cannot start. */
  prepare(of: NewStart): Promise<PreparedPipeline | { fault: string }>;
  /** Returns what is wrong with a start, and the tools that its stages use without asking. */
  check(userId: string, of: GivenStart): Promise<StartCheck>;
}

interface NewStart extends PipelineStart {
  userId: string;
  name?: string | undefined;
  untrusted?: boolean;
  hops?: number;
  /** True: a text that stands for a number or a flag becomes one. */
  isRendered?: boolean;
}

interface GivenStart {
  templateId?: string | undefined;
  params?: Record<string, unknown> | undefined;
  /** True: a text is filled in when it runs, and may stand for a value of any type then. */
  isRendered?: boolean;
}

/** The faults of a start, with their paths, and the tools that its stages use without asking. */
interface StartCheck {
  faults: FieldFault[];
  tools: string[];
}

/** Returns the tools that a template uses without asking, with all that it runs as stages. */
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

/** Creates the starts of runs by other modules. */
export const createPipelineStarts = (
  { children, begin }: Pick<Runs, 'children' | 'begin'>,
  find: FindTemplate,
  now: () => number,
): PipelineStarts => ({
  prepare: async ({ userId, templateId, params, isRendered, ...of }) => {
    const template = await find(userId, templateId);
    if (!template) return { fault: `Unknown template: ${templateId}` };
    const { parameters } = template;
    const given = isRendered ? typedValues(parameters, params) : params;
    const { values, faults } = givenParameters(parameters, given);
    const [fault] = [...faults, ...(await toolsOfTemplate(find, userId, template)).faults];
    if (fault) return { fault: `${fault.path} ${fault.message}` };
    const { name, untrusted = false, hops = 0 } = of;
    const rows = newRunRows({ userId, template, values, name, untrusted, hops, now: now() });
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
    const faults = givenParameters(parameters, params).faults.filter(
      ({ path }) => !open.includes(path.slice('params.'.length)),
    );
    return { faults: [...faults, ...used.faults], tools: used.tools };
  },
});

/** Reads texts as the numbers and flags that parameters are. */
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
