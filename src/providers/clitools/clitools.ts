import type { Clock } from '../../kernel/clock.js';
import type { Confinement } from '../confine/confinement.js';
import { endedBy } from '../llm/failure.js';
import {
  type Model,
  ModelFailure,
  type ModelRequest,
  type Price,
  type StepReply,
} from '../llm/model.js';
import type { Patience } from '../llm/patience.js';
import { type Came, replyOf } from '../llm/reply.js';
import { textTokens } from '../llm/tokens.js';
import { call } from './call.js';
import { createFinder } from './finder.js';
import { createGate } from './gate.js';
import { isLoggedIn } from './home.js';
import { createHomes } from './homes.js';
import { createQuotas, type ToolQuota } from './quota.js';
import type { ToolAnswer } from './run.js';
import type { ToolName } from './tool.js';
import { cliTools, toolOf } from './tools.js';

/** The state of a tool: if it is installed, and if it is logged in. */
export interface ToolStatus {
  name: ToolName;
  available: boolean;
  version: string | null;
  path: string | null;
  loggedIn: boolean;
}

/** The settings of a model that is a command-line tool. */
export interface CliOpening {
  name: string;
  /** The tool, with an optional model: `claude`, `claude:opus`. */
  modelId: string;
  contextWindow: number;
  price: Price | null;
}

export interface CliTools {
  model(opening: CliOpening): Model;
  status(): Promise<ToolStatus[]>;
  quotas(): (ToolQuota & { name: ToolName })[];
}

export interface CliToolsDeps {
  home: string;
  /** The absolute folders that are searched for the tools. */
  path: string[];
  confinement: Confinement | null;
  patience: Patience;
  clock: Clock;
}

/** Ours: the most tools that run at once, since each takes some hundred megabytes. */
const AT_ONCE = 4;

/**
 * Creates the command-line tools as models. Ours: a tool works in its own HOME, not in the agent's
 * folder. It has no tools with which to use that folder, and an agent could write settings, hooks
 * or plugins there that the tool would obey.
 */
export const createCliTools = (deps: CliToolsDeps): CliTools => {
  const quotas = createQuotas(deps.clock);
  const find = createFinder(deps);
  const homes = createHomes(deps.home);
  const gate = createGate(AT_ONCE);
  const all = Object.values(cliTools);

  const step = async (opening: CliOpening, asked: ModelRequest): Promise<StepReply> => {
    const { name, price } = opening;
    const of = toolOf(opening.modelId);
    if (!of) throw new ModelFailure('unknown_model', `${name} names no tool that is known`);
    const leave = await gate(asked.signal).catch(() => {
      throw endedBy(name, asked.signal);
    });
    try {
      const calling = { ...deps, find, quotas };
      const said = await homes.use(of.tool, () => call(calling, { name, price, ...of }, asked));
      quotas.answered(of.tool.name);
      return replyOf({ name, asked, came: cameOf(said), ...(price && { price }) });
    } finally {
      leave();
    }
  };

  return {
    model: (opening) => ({
      name: opening.name,
      provider: 'cli',
      contextWindow: opening.contextWindow,
      takesTools: false,
      ...(opening.price && { price: opening.price }),
      step: (asked) => step(opening, asked),
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

/** Converts an answer to the form that the adapters of other providers return. */
const cameOf = ({ text, isCut, inputTokens, outputTokens }: ToolAnswer): Came => ({
  text,
  toolCalls: [],
  usage: { inputTokens: inputTokens ?? undefined, outputTokens: outputTokens ?? undefined },
  finishReason: isCut ? 'length' : 'stop',
  seen: textTokens(text),
});
