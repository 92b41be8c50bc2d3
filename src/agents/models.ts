import { formatFailures } from '../kernel/passedover.js';
import type { ModelHealth, ModelHealths, RegisteredModel, Registry } from '../models/module.js';
import { digest } from '../providers/llm/digest.js';
import {
  type Model,
  ModelFailure,
  type ModelRequest,
  type ModelUsage,
  type StepReply,
} from '../providers/llm/model.js';
import { usageWith } from '../providers/llm/tally.js';
import { estimateTokens } from '../providers/llm/tokens.js';
import type { CostEstimate, ReservedBudget, StepBudget } from './budget.js';
import { type CandidateAgent, candidateModels, isDigestConfigured } from './candidates.js';
import type { ReplyDeltas } from './textdeltas.js';

export interface ModelReply {
  reply: StepReply;
  model: string;
  latencyMs: number;
  reserved: ReservedBudget;
  passedOver: { model: string; because: string }[];
}

/** Constraints on the models that may answer an agent. */
export interface ModelConstraints extends CandidateAgent {
  /** Returns the reason why the agent may not use the model, or null. */
  barred(entry: RegisteredModel): string | null;
}

export interface StepModelRequest extends Omit<ModelRequest, 'onText'> {
  /** Starts forwarding the reply of one model to a step. */
  beginDeltas?(step: number): ReplyDeltas;
  /**
   * Whether the digest may answer if all models fail. By default it answers only if it was
   * configured.
   */
  isDigestEnough?: boolean;
}

export interface ModelState extends Pick<ModelHealth, 'status' | 'lastError'> {
  name: string;
}

/**
 * Maximum space in the context window reserved for the reply, in tokens. At most an eighth of it is
 * used.
 */
const MAX_REPLY_LENGTH = 8192;
/** Safety margin for the estimate of a prompt. */
const INPUT_MARGIN = 1.25;
/** Minimum size of a reply, even if the prompt fills the context window by the estimate. */
const MIN_ANSWER_LENGTH = 256;

type Attempt = Omit<ModelReply, 'model' | 'passedOver'> | PassedOver | 'gone';

interface PassedOver {
  because: string;
  /** Whether the prompt is too large for the model. */
  isTooLarge?: boolean;
}

const toModelState = (name: string, { status, lastError }: ModelHealth): ModelState => ({
  name,
  status,
  lastError,
});

const listEnabledModels = (registry: Registry, userId: string | null): RegisteredModel[] =>
  registry.list(userId).filter(({ isEnabled }) => isEnabled);

export const createModels = (registry: Registry, health: ModelHealths) => {
  const has = (userId: string | null, name: string): boolean =>
    registry.find(name, userId)?.isEnabled === true;

  const routed = (topic?: string | null): string | undefined =>
    registry.routes().find((route) => route.topic === topic)?.primary;

  const ask = async (
    model: Model,
    { beginDeltas, ...step }: StepModelRequest,
    { budget, reserved }: { budget: StepBudget; reserved: ReservedBudget },
  ): Promise<Attempt> => {
    const since = performance.now();
    const tookMs = (): number => Math.round(performance.now() - since);
    const maxOutputTokens = reserved.outputTokens;
    const deltas = beginDeltas?.(reserved.step);
    // Always stream: only a stream reveals that a model hangs.
    let hasText = false;
    const onText = (text: string): void => {
      hasText = true;
      deltas?.take(text);
    };
    const onRestart = (): void => deltas?.restart();
    try {
      const reply = await model.step({ ...step, maxOutputTokens, onText, onRestart });
      health.replied(model.name, tookMs());
      return { reply, reserved, latencyMs: tookMs() };
    } catch (error) {
      const failure = error instanceof ModelFailure ? error : null;
      if (hasText) deltas?.restart();
      if (failure && !step.signal.aborted) health.failed(model.name, failure);
      else health.released(model.name);
      await budget.close(reserved, failure ? failure.usage : fullReservation(reserved), tookMs());
      if (!failure || step.signal.aborted) throw error;
      return { because: failure.message, isTooLarge: failure.kind === 'context_length' };
    } finally {
      deltas?.end();
    }
  };

  const attempt = async (
    name: string,
    wanted: ModelConstraints,
    step: StepModelRequest,
    budget: StepBudget,
  ): Promise<Attempt> => {
    const entry = registry.find(name, wanted.userId);
    const because =
      ineligibleReason(entry, wanted) ?? health.refusal(name) ?? toolFault(entry, step);
    if (!entry || because !== null) return { because: because ?? '' };
    const excess = sizeFault(entry, step);
    if (excess !== null) return { because: excess, isTooLarge: true };
    const offered = { ...step, tools: entry.supports.tools ? step.tools : [] };
    const reserved = await budget.reserve(estimateCost(entry, offered));
    if (reserved === 'gone') return reserved;
    if (!reserved) return { because: 'its cost would exceed a limit' };
    const busy = health.begin(name);
    if (busy === null) return ask(entry.model, offered, { budget, reserved });
    await budget.close(reserved, undefined, 0);
    return { because: busy };
  };

  return {
    has,
    /** With null, only those of the installation. */
    names: (userId: string | null) => listEnabledModels(registry, userId).map(({ name }) => name),
    cliNames: () =>
      listEnabledModels(registry, null).flatMap(({ name, provider }) =>
        provider === 'cli' ? [name] : [],
      ),
    /** Of the models of the installation. */
    states: (): ModelState[] =>
      listEnabledModels(registry, null).map((entry) => toModelState(entry.name, health.of(entry))),
    /** First model of the topic, or the default model. */
    choose: (topic?: string | null): string => {
      const primary = routed(topic);
      return primary !== undefined && has(null, primary) ? primary : registry.default();
    },
    /**
     * For agents that read payloads. A disabled model is included: it is skipped later, but decides
     * whether the content stays local.
     */
    routed: (topic?: string): string => routed(topic) ?? registry.default(),
    first: (of: CandidateAgent): RegisteredModel | undefined =>
      registry.find(
        candidateModels(registry, of).find((name) => has(of.userId, name)) ?? '',
        of.userId,
      ),
    /** Models to which an agent may delegate: its own that lead to no others. */
    within: (of: CandidateAgent): string[] => {
      const own = candidateModels(registry, of);
      const reaches = (model: string) => candidateModels(registry, { ...of, model });
      return own.filter(
        (name) => has(of.userId, name) && reaches(name).every((each) => own.includes(each)),
      );
    },
    /**
     * Calls the candidates in order. A prompt is never cut: the next model with enough room gets
     * it. Each call is reserved separately. Returns `gone` if the agent no longer runs. Throws
     * ModelFailure if no model answers.
     */
    ask: async (
      wanted: ModelConstraints,
      step: StepModelRequest,
      budget: StepBudget,
    ): Promise<ModelReply | 'gone'> => {
      const passedOver: ModelReply['passedOver'] = [];
      const isDigestChosen = listEnabledModels(registry, wanted.userId).some(
        ({ source }) => source !== 'builtin',
      );
      let isSizeAlone = true;
      for (const name of candidateModels(registry, wanted)) {
        const unanswered = formatFailures(passedOver);
        const isLastResort =
          name === digest.name && !isSizeAlone && !isDigestConfigured(registry, wanted);
        if (isLastResort && !step.isDigestEnough) break;
        const attempted = await attempt(
          name,
          wanted,
          { ...step, unanswered, isDigestChosen },
          budget,
        );
        if (attempted === 'gone') return attempted;
        if ('reply' in attempted) return { ...attempted, model: name, passedOver };
        isSizeAlone &&= attempted.isTooLarge === true;
        passedOver.push({ model: name, because: attempted.because });
      }
      throw new ModelFailure('server', `No model answered. ${describeFailures(passedOver)}`);
    },
    /** Maximum size of a prompt for the likely model, in tokens, with room for a reply. */
    room: (wanted: ModelConstraints): number => {
      const entryOf = (name: string) => registry.find(name, wanted.userId);
      const mayHave = (name: string) => ineligibleReason(entryOf(name), wanted) === null;
      const likely = candidateModels(registry, wanted).find(
        (name) => mayHave(name) && !health.refusal(name),
      );
      const window = entryOf(likely ?? '')?.contextWindow ?? 0;
      return window - Math.min(MAX_REPLY_LENGTH, Math.floor(window / 8));
    },
  };
};

export type Models = ReturnType<typeof createModels>;

const describeFailures = (passedOver: ModelReply['passedOver']): string => {
  const failures = `${formatFailures(passedOver).join('. ')}.`;
  // A reason of two sentences has a remedy of its own.
  const first = passedOver.find(({ because }) => !/\. [A-Z]/.test(because));
  return first ? `${failures} Check the model: adjutant models test ${first.model}` : failures;
};

/** A model without tools cannot continue a conversation that contains calls. */
const toolFault = (
  entry: RegisteredModel | undefined,
  { turns }: Pick<ModelRequest, 'turns'>,
): string | null =>
  entry && entry.source !== 'builtin' && !entry.supports.tools && turns.some(isAboutTools)
    ? 'it does not support tools'
    : null;

const sizeFault = (
  entry: RegisteredModel,
  { turns, tools }: Pick<ModelRequest, 'turns' | 'tools'>,
): string | null => {
  if (entry.source === 'builtin') return null;
  const tokens = estimateTokens(turns, entry.supports.tools ? tools : []);
  if (tokens <= entry.contextWindow) return null;
  return `${entry.name} was not called: the prompt has about ${tokens} tokens, but the context window has ${entry.contextWindow}`;
};

const ineligibleReason = (
  entry: RegisteredModel | undefined,
  wanted: ModelConstraints,
): string | null => {
  if (!entry) return 'the model no longer exists';
  if (!entry.isEnabled) return 'it is disabled';
  return entry.whyKeyless() ?? wanted.barred(entry);
};

const isAboutTools = (turn: ModelRequest['turns'][number]): boolean =>
  turn.role === 'tool' || (turn.role === 'assistant' && turn.toolCalls.length > 0);

/** The smallest limit of agent, model and context applies. The digest costs nothing. */
const estimateCost = (
  entry: RegisteredModel,
  { turns, tools, maxOutputTokens = MAX_REPLY_LENGTH }: ModelRequest,
): CostEstimate => {
  const { name: model, price, contextWindow } = entry;
  if (entry.source === 'builtin') return { model, price: null, inputTokens: 0, outputTokens: 0 };
  const tokens = estimateTokens(turns, tools);
  const most = Math.min(maxOutputTokens, entry.maxOutputTokens ?? maxOutputTokens);
  return {
    model,
    price,
    inputTokens: Math.ceil(tokens * INPUT_MARGIN),
    outputTokens: Math.min(most, Math.max(MIN_ANSWER_LENGTH, contextWindow - tokens)),
  };
};

/** The whole reservation, because the progress of the call is unknown. */
const fullReservation = ({ inputTokens, outputTokens, price }: ReservedBudget): ModelUsage =>
  usageWith(price ?? undefined, inputTokens, outputTokens);
