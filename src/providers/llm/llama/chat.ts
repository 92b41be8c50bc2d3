import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../kernel/clock.js';
import { abortFailure } from '../failure.js';
import { ModelFailure, type ModelRequest, type StepReply } from '../model.js';
import { type SdkReply, toStepReply } from '../reply.js';
import { createReplyReader, type ReplyReader } from '../replytext.js';
import { shapeTurns } from '../shape.js';
import { createTally, type ReplyTally, withUsage } from '../tally.js';
import { type ModelTimeouts, type TimeoutWatch, watchTimeouts } from '../timeouts.js';
import { expectAnswer, toLlamaFailure } from './answer.js';
import { removeNullFillers, toLlamaFunctions } from './grammar.js';
import { buildLlamaHistory } from './history.js';
import type { LlamaOpening, LoadedModels } from './loadedmodels.js';
import type { LlamaProcess } from './process.js';
import type { GenerateRequest, LlamaCall, LlamaEnd } from './protocol.js';

interface ChatDeps {
  residents: LoadedModels;
  clock: Clock;
  timeouts: ModelTimeouts;
  opening: LlamaOpening;
}

const MAX_REPLY_LENGTH = 4 * 1024 * 1024;

export const askForReply = async (
  { residents, clock, timeouts, opening }: ChatDeps,
  modelRequest: ModelRequest,
): Promise<StepReply> => {
  const { name, modelId: slug, contextWindow, price } = opening;
  const maxOutputTokens = modelRequest.maxOutputTokens ?? opening.maxOutputTokens ?? undefined;
  const request = { ...modelRequest, maxOutputTokens };
  const generateRequest: GenerateRequest = {
    do: 'generate',
    history: buildLlamaHistory(name, shapeTurns(request.turns)),
    functions: toLlamaFunctions(opening.takesTools ? request.tools : []),
    maxOutputTokens: maxOutputTokens ?? null,
  };
  try {
    const wanted = { slug, contextWindow, use: 'chat' as const };
    return await residents.use(wanted, request.signal, async (process) => {
      const watch = watchTimeouts(clock, name, timeouts);
      const tally = createTally();
      try {
        // The engine recognizes the reasoning of a chat template itself.
        const traits = { beginsInThought: false, isShown: false };
        const reader = createReplyReader({ name, modelId: slug, request, traits });
        const reply = await converse({
          name,
          process,
          generateRequest,
          request,
          reader,
          watch,
          tally,
        });
        const sdkReply = reader.end(reply);
        return toStepReply({ name, request, sdkReply, ...(price && { price }) });
      } catch (error) {
        throw withUsage(toLlamaFailure(name, error), {
          tally,
          request,
          price: price ?? undefined,
          isStreamed: true,
        });
      } finally {
        watch.stop();
      }
    });
  } catch (error) {
    if (error instanceof ModelFailure) throw error;
    throw request.signal.aborted ? abortFailure(name, request.signal) : toLlamaFailure(name, error);
  }
};

interface Conversing {
  name: string;
  process: LlamaProcess;
  generateRequest: GenerateRequest;
  request: ModelRequest;
  reader: ReplyReader;
  watch: TimeoutWatch;
  tally: ReplyTally;
}

const converse = async (of: Conversing): Promise<SdkReply> => {
  const { name, process, generateRequest, request, reader, watch, tally } = of;
  const own = new AbortController();
  const take = (piece: string): void => {
    watch.active();
    tally.begin();
    tally.add(piece);
    if (tally.bytes() > MAX_REPLY_LENGTH) {
      own.abort(
        new ModelFailure('invalid_reply', `${name} exceeded the maximum length of a reply`),
      );
    } else if (piece !== '') reader.take(piece);
  };
  const onPart = (part: { is: string; text?: string }): void => {
    if (own.signal.aborted) return;
    try {
      take(part.text ?? '');
    } catch (error) {
      own.abort(error);
    }
  };
  const signal = AbortSignal.any([request.signal, watch.signal, own.signal]);
  const end = await process.ask(generateRequest, { signal, onPart }).catch((error: unknown) => {
    throw signal.aborted ? getAbortReason(of, own.signal) : error;
  });
  if (end.is === 'reply') tally.tell(end.usage);
  if (signal.aborted) throw getAbortReason(of, own.signal);
  return { ...toSdkReply(name, end, request), text: '', seen: tally.tokens() };
};

const getAbortReason = ({ name, request, watch }: Conversing, own: AbortSignal): unknown => {
  if (request.signal.aborted) return abortFailure(name, request.signal);
  return watch.signal.aborted ? watch.signal.reason : own.reason;
};

const toSdkReply = (
  name: string,
  end: LlamaEnd,
  { tools }: ModelRequest,
): Omit<SdkReply, 'text' | 'seen'> => {
  const { usage, calls, finish } = expectAnswer(name, end, 'reply');
  const schemas = new Map(tools.map((tool) => [tool.name, tool.inputSchema]));
  const toolCalls = calls.map(({ name: toolName, params }: LlamaCall) => ({
    toolCallId: `call_${randomUUID()}`,
    toolName,
    input: removeNullFillers(params, schemas.get(toolName)),
  }));
  return { usage, toolCalls, finishReason: finish };
};
