import type { Clock } from '../kernel/clock.js';
import type { Caller } from '../kernel/contract/endpoint.js';
import { throwIfFaults } from '../kernel/route.js';
import type { EmbeddingModel } from '../providers/llm/embeddings.js';
import { featureRemedy } from '../providers/llm/failure.js';
import {
  type Model,
  ModelFailure,
  type ModelFailureKind,
  type StepReply,
  type ToolSpec,
  type Turn,
} from '../providers/llm/model.js';
import { emptyReply } from '../providers/llm/reply.js';
import type { ModelTrial, ProbeResult } from './contract.js';
import type { ModelsDeps } from './deps.js';
import type { ModelHealths } from './health.js';
import type { RegisteredModel } from './registry.js';
import { isProvider, orgModelFaults, providerFaults, withModelDefaults } from './rules.js';
import { checkModelCredential, orgOfCaller } from './service.js';

/** Models that are tested at the same time. */
const AT_ONCE = 8;

export const testUnregistered = async (
  deps: ModelsDeps,
  { provider, modelId, baseUrl = null, credentialId, apiKey }: ModelTrial,
  by: Caller,
): Promise<ProbeResult> => {
  const orgId = orgOfCaller(by);
  throwIfFaults([
    ...providerFaults({ provider, modelId, baseUrl, credentialId, apiKey }),
    ...(orgId === null ? [] : orgModelFaults({ provider, baseUrl }, deps.http)),
  ]);
  if (!isProvider(provider)) throw new Error(`No adapter for the provider ${provider}`);
  await checkModelCredential(deps, credentialId, by);
  const key = credentialId === undefined ? apiKey : await deps.keys.newest(credentialId);
  if (key === null) throwIfFaults([{ path: 'credentialId', message: 'has expired' }]);
  const model = deps.openModel({
    ...withModelDefaults({ provider, modelId }),
    embedding: null,
    orgId,
    name: `${provider}/${modelId}`,
    provider,
    modelId,
    baseUrl,
    ...(typeof key === 'string' && { apiKey: key }),
  });
  return probe(deps.clock, model, { signal: by.signal });
};

export const checkModel = async (
  deps: ModelsDeps,
  entry: RegisteredModel,
  signal: AbortSignal,
): Promise<ProbeResult> => {
  const because = entry.whyKeyless();
  if (because !== null) return { ok: false, latencyMs: 0, error: `${entry.name}: ${because}` };
  if (entry.embedder) return probeEmbedder(entry.name, entry.embedder, { signal, deps });
  return probe(deps.clock, entry.model, { signal, health: deps.modelHealth });
};

const probeEmbedder = async (
  name: string,
  embedder: EmbeddingModel,
  { signal, deps: { clock, modelHealth } }: { signal: AbortSignal; deps: ModelsDeps },
): Promise<ProbeResult> => {
  const since = performance.now();
  const took = (): number => Math.round(performance.now() - since);
  const limit = clock.deadline(PROBE_MS);
  try {
    const { vectors } = await embedder.embed(['ok'], AbortSignal.any([signal, limit]));
    modelHealth.replied(name, took());
    const reply = `${vectors[0]?.length} dimensions`;
    return { ok: true, latencyMs: took(), reply, tested: ['embedding'] };
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error;
    if (!limit.aborted) modelHealth.failed(name, error);
    return { ok: false, latencyMs: took(), error: error.message };
  }
};

/** Those that the caller may change. */
export const checkAllModels = async (deps: ModelsDeps, by: Caller): Promise<void> => {
  const orgId = orgOfCaller(by);
  const entries = deps.registry
    .list(orgId)
    .filter((entry) => entry.isEnabled && entry.orgId === orgId);
  const next = async (): Promise<void> => {
    for (let entry = entries.shift(); entry !== undefined; entry = entries.shift()) {
      await checkModel(deps, entry, by.signal);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
};

/** A person waits for the result. A local model may have to load first. */
const PROBE_MS = 20_000;
const LOADING_PROBE_MS = 100_000;
const MAX_REPLY_LENGTH = 200;
const CUT_OFF = ' (cut off at the output limit)';
const MAX_TEXT_LENGTH = MAX_REPLY_LENGTH - CUT_OFF.length;

/** The features of a model that agents use. */
interface ProbeFeatures {
  tools: boolean;
  /** Whether the reply is streamed. */
  streaming: boolean;
  /** Whether the request has a second message. */
  conversation: boolean;
}

type ProbedFeature = keyof ProbeFeatures;

/** Messages for a model that replies only without the feature. */
const LACKS: Record<ProbedFeature, string> = {
  tools: 'it replies, but not if it is offered tools',
  streaming: 'it replies, but does not stream',
  conversation: 'it replies to one message, but not to a second one',
};

const ECHO: ToolSpec = {
  name: 'test_echo',
  description: 'Returns the word',
  inputSchema: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
};

/**
 * Sends the requests that agents send: with a tool, and with the first reply in the second request.
 * Pass `health` for a registered model.
 */
const probe = async (
  clock: Clock,
  model: Model,
  { signal, health }: { signal: AbortSignal; health?: ModelHealths },
): Promise<ProbeResult> => {
  const since = performance.now();
  const took = (): number => Math.round(performance.now() - since);
  const isLoaded = model.provider !== 'llama';
  const limit = clock.deadline(isLoaded ? PROBE_MS : LOADING_PROBE_MS);
  const ask = (features: ProbeFeatures): Promise<Conversed> =>
    converse(model, features, AbortSignal.any([signal, limit]));
  // A command-line tool cannot use our tools, and each request starts a program.
  const isProgram = model.provider === 'cli';
  const all = { tools: model.takesTools !== false, streaming: true, conversation: !isProgram };
  try {
    const { text, tested } = await ask(all);
    health?.replied(model.name, took());
    return { ok: true, latencyMs: took(), reply: text.slice(0, MAX_REPLY_LENGTH), tested };
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error;
    // This timeout says little about a model that is still loading.
    if (!limit.aborted) health?.failed(model.name, error);
    const missing = isProgram ? null : await missingFeature(error, all, ask);
    const isRegistered = health !== undefined;
    // The remedy of the result follows.
    const message = error.message.replace(`. ${featureRemedy(model.name, 'tools')}`, '');
    if (missing === null) {
      const unchanged = isRegistered ? error.message : message;
      return { ok: false, latencyMs: took(), error: unchanged };
    }
    const remedy =
      missing === 'conversation' ? '' : `. ${remedyFor(model.name, missing, isRegistered)}`;
    const sentence = `${message}. ${model.name}: ${LACKS[missing]}${remedy}`;
    return { ok: false, latencyMs: took(), error: sentence, missing };
  }
};

const remedyFor = (name: string, feature: 'tools' | 'streaming', isRegistered: boolean): string =>
  isRegistered
    ? featureRemedy(name, feature)
    : `Set supports.${feature} to false when you register the model: --no-${feature}`;

/** Failures that may disappear without one of the features. */
const DUE_TO_REQUEST: ModelFailureKind[] = ['bad_request', 'invalid_reply', 'server'];

/** Null if no feature is the cause. */
const missingFeature = async (
  { kind }: ModelFailure,
  all: ProbeFeatures,
  ask: (features: ProbeFeatures) => Promise<Conversed>,
): Promise<ProbedFeature | null> => {
  if (!DUE_TO_REQUEST.includes(kind)) return null;
  for (const feature of ['tools', 'conversation', 'streaming'] as const) {
    if (!all[feature]) continue;
    try {
      await ask({ ...all, [feature]: false });
      return feature;
    } catch (error) {
      if (!(error instanceof ModelFailure)) throw error;
    }
  }
  return null;
};

interface Conversed extends Pick<ProbeResult, 'tested'> {
  text: string;
}

const converse = async (
  model: Model,
  { tools, streaming, conversation }: ProbeFeatures,
  signal: AbortSignal,
): Promise<Conversed> => {
  const turns: Turn[] = [
    { role: 'system', content: 'This is a test. Answer with one word.' },
    { role: 'user', content: tools ? 'Call test_echo with the word ok.' : 'Say ok.' },
  ];
  const step = (): Promise<StepReply> =>
    model.step({
      turns,
      tools: tools ? [ECHO] : [],
      // Enough for models that reason first.
      maxOutputTokens: 1024,
      signal,
      ...(streaming && { onText: () => undefined }),
    });
  const first = await step();
  const called = first.toolCalls.length > 0 ? (['tool_call'] as const) : [];
  if (!conversation || isEmpty(first)) {
    return { text: describeReply(model.name, first), tested: ['reply', ...called] };
  }
  const { text: content, toolCalls, reasoning } = first;
  turns.push({ role: 'assistant', content, toolCalls, reasoning });
  for (const { id, name } of toolCalls) {
    turns.push({ role: 'tool', toolCallId: id, toolName: name, content: 'ok' });
  }
  if (toolCalls.length === 0) turns.push({ role: 'user', content: 'Say ok once more.' });
  const second = await step();
  const text = describeReply(model.name, { ...second, text: second.text || content });
  return { text, tested: ['reply', ...called, 'conversation'] };
};

const isEmpty = ({ text, toolCalls }: StepReply): boolean =>
  text.trim() === '' && toolCalls.length === 0;

/** Throws ModelFailure if the model answered nothing. */
const describeReply = (name: string, reply: StepReply): string => {
  const text = reply.text.trim();
  if (reply.finish === 'length') return `${text.slice(0, MAX_TEXT_LENGTH)}${CUT_OFF}`.trim();
  if (isEmpty(reply)) throw emptyReply(name);
  return text;
};
