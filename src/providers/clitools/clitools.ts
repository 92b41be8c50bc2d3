import { createGate } from '../../kernel/gate.js';
import { abortFailure } from '../llm/failure.js';
import {
  type Model,
  ModelFailure,
  type ModelRequest,
  type Price,
  type StepReply,
} from '../llm/model.js';
import { toStepReply } from '../llm/reply.js';
import type { ModelTimeouts } from '../llm/timeouts.js';
import { call } from './call.js';
import { createFinder, type FinderDeps } from './find.js';
import { createHomes, isLoggedIn } from './home.js';
import { createQuotas } from './quota.js';
import { cliTools, findCliTool } from './tools.js';

export interface CliOpening {
  name: string;
  /** Tool with an optional model: `claude`, `claude:opus`. */
  modelId: string;
  contextWindow: number;
  price: Price | null;
}

export type CliTools = ReturnType<typeof createCliTools>;

export interface CliToolsDeps extends FinderDeps {
  home: string;
  timeouts: ModelTimeouts;
}

/** Each tool takes several hundred megabytes. */
const AT_ONCE = 4;

/**
 * A tool works in its own HOME, because an agent could write settings, hooks or plugins into its
 * folder that the tool would obey.
 */
export const createCliTools = (deps: CliToolsDeps) => {
  const { home, confinement, timeouts, clock } = deps;
  const quotas = createQuotas(clock);
  const find = createFinder(deps);
  const inHome = createHomes(home);
  const gate = createGate(AT_ONCE);
  const all = Object.values(cliTools);

  const step = async (opening: CliOpening, request: ModelRequest): Promise<StepReply> => {
    const { name, price } = opening;
    const of = findCliTool(opening.modelId);
    if (!of)
      throw new ModelFailure(
        'unknown_model',
        `The model ${name} uses an unknown command-line tool. Change modelId of the model`,
      );
    const leave = await gate(request.signal).catch(() => {
      throw abortFailure(name, request.signal);
    });
    try {
      const calling = { home, confinement, timeouts, clock, find, quotas };
      const sdkReply = await inHome(of.tool, () => call(calling, { name, price, ...of }, request));
      quotas.replied(of.tool.name);
      return toStepReply({ name, request, sdkReply, ...(price && { price }) });
    } finally {
      leave();
    }
  };

  return {
    model: (opening: CliOpening): Model => ({
      name: opening.name,
      provider: 'cli',
      contextWindow: opening.contextWindow,
      takesTools: false,
      ...(opening.price && { price: opening.price }),
      step: (request) => step(opening, request),
    }),
    status: () =>
      Promise.all(
        all.map(async (tool) => {
          const [known, loggedIn] = await Promise.all([find(tool), isLoggedIn(deps.home, tool)]);
          const version = known?.version ?? null;
          const path = known?.path ?? null;
          return { name: tool.name, available: version !== null, version, path, loggedIn };
        }),
      ),
    quotas: () => all.map(({ name }) => ({ name, ...quotas.of(name) })),
  };
};
