import type { LoadedChat, LoadedVectors } from './engine.js';
import type {
  EmbedRequest,
  GenerateRequest,
  LlamaCall,
  LlamaEnd,
  LlamaFinish,
} from './protocol.js';

/** Some models repeat themselves without randomness. */
const SAMPLING = { temperature: 0.6, topP: 0.95 };
/** Tokens to leave free, so that nothing is shifted out of the context. */
const SPARE_TOKENS = 8;
const FINISHES: Partial<Record<string, LlamaFinish>> = { abort: 'aborted', maxTokens: 'length' };

export const generate = async (
  { chat, model, sequence }: LoadedChat,
  { history, functions, maxOutputTokens }: GenerateRequest,
  { signal, onText }: { signal: AbortSignal; onText(text: string): void },
): Promise<LlamaEnd> => {
  const { contextText } = chat.chatWrapper.generateContextState({
    chatHistory: history,
    availableFunctions: functions,
  });
  const inputTokens = contextText.tokenize(model.tokenizer).length;
  const room = sequence.contextSize - inputTokens - SPARE_TOKENS;
  if (room < 1) return tooLong(inputTokens, sequence.contextSize);
  const before = sequence.tokenMeter.getState();
  const reply = await chat.generateResponse(history, {
    ...(Object.keys(functions).length > 0 && { functions }),
    ...SAMPLING,
    maxTokens: Math.min(maxOutputTokens ?? room, room),
    signal,
    stopOnAbortSignal: true,
    // A chunk with a type belongs to a segment, such as reasoning.
    onResponseChunk: ({ type, text }) => onText(type === undefined ? text : ''),
  });
  const { usedOutputTokens: outputTokens } = sequence.tokenMeter.diff(before);
  return {
    is: 'reply',
    calls: (reply.functionCalls ?? []).map(toLlamaCall),
    finish: FINISHES[reply.metadata.stopReason] ?? 'stop',
    usage: { inputTokens, outputTokens },
  };
};

/** Texts are cut to the context size. */
export const embed = async (
  { model, context, contextSize }: LoadedVectors,
  { texts }: EmbedRequest,
  { signal, onVector }: { signal: AbortSignal; onVector(vector: number[]): void },
): Promise<LlamaEnd> => {
  let inputTokens = 0;
  for (const text of texts) {
    if (signal.aborted) break;
    const tokens = model.tokenize(text).slice(0, contextSize - SPARE_TOKENS);
    inputTokens += context.calculateInputLength([...tokens]);
    const { vector } = await context.getEmbeddingFor(tokens);
    onVector([...vector]);
  }
  return { is: 'embedded', usage: { inputTokens, outputTokens: 0 } };
};

const toLlamaCall = ({ functionName: name, params }: { functionName: string; params: unknown }) => {
  const call: LlamaCall = { name, params: { ...Object(params) } };
  return call;
};

const tooLong = (inputTokens: number, contextSize: number): LlamaEnd => ({
  is: 'failed',
  fault: 'context_length',
  message: `the prompt has ${inputTokens} tokens, but the context window has ${contextSize}`,
});
