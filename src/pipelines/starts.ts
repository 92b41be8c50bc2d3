import type { FieldFault } from '../kernel/problem.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import { newRunRows } from './runs/newrun.js';
import type { FindTemplate, Runs } from './runs/open.js';
import type { PipelineTemplate } from './templates/contract.js';
import { nestedTemplates } from './templates/nestedtemplates.js';
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
  /** Prepares a trusted run. `fault`: why it cannot start. */
  prepare(
    of: PipelineStart & { userId: string; name: string },
  ): Promise<PreparedPipeline | { fault: string }>;
  /** Returns what is wrong with a start, and the tools that its stages use without asking. */
  check(userId: string, of: Partial<PipelineStart>): Promise<StartCheck>;
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
  const { templates, faults } = await nestedTemplates(of, (id) => find(userId, id));
  return {
    faults: faults.map(({ path, message }) => ({
      path: 'templateId',
      message: `names a template of which ${path} ${message}`,
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
  prepare: async ({ userId, templateId, params, name }) => {
    const template = await find(userId, templateId);
    if (!template) return { fault: `There is no template ${templateId}` };
    const { values, faults } = givenParameters(template.parameters, params);
    const [fault] = [...faults, ...(await toolsOfTemplate(find, userId, template)).faults];
    if (fault) return { fault: `${fault.path} ${fault.message}` };
    const run = { userId, template, values, name, untrusted: false, now: now() };
    const rows = newRunRows(run);
    const { id } = rows.row;
    return { id, steps: children.insert(rows), begun: () => begin(id) };
  },
  check: async (userId, { templateId, params = {} }) => {
    if (templateId === undefined) {
      return { faults: [{ path: 'templateId', message: 'is required' }], tools: [] };
    }
    const template = await find(userId, templateId);
    if (!template) {
      return { faults: [{ path: 'templateId', message: 'names no template of yours' }], tools: [] };
    }
    const { faults } = givenParameters(template.parameters, params);
    const used = await toolsOfTemplate(find, userId, template);
    return { faults: [...faults, ...used.faults], tools: used.tools };
  },
});
