import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { GrammarSchema, HistoryItem, LlamaFunctions, LoadRequest } from './protocol.js';

/** The used part of node-llama-cpp 3.22, which is installed separately. */
interface EnginePackage {
  getLlama(options: {
    gpu: 'auto' | false;
    build: 'never';
    skipDownload: true;
    logLevel: 'error';
    maxThreads: number;
  }): Promise<LlamaEngine>;
  LlamaChat: new (options: { contextSequence: Sequence }) => EngineChat;
}

interface LlamaEngine {
  loadModel(options: { modelPath: string }): Promise<EngineModel>;
}

interface ContextOptions {
  contextSize: number;
  threads: number;
}

interface EngineModel {
  trainContextSize: number;
  tokenizer: unknown;
  tokenize(text: string): number[];
  createContext(options: ContextOptions): Promise<{ contextSize: number; getSequence(): Sequence }>;
  createEmbeddingContext(options: ContextOptions): Promise<EmbeddingContext>;
}

interface EmbeddingContext {
  getEmbeddingFor(tokens: number[]): Promise<{ vector: readonly number[] }>;
  calculateInputLength(tokens: number[]): number;
}

interface Sequence {
  contextSize: number;
  tokenMeter: { getState(): MeterState; diff(before: MeterState): MeterState };
}

interface MeterState {
  usedInputTokens: number;
  usedOutputTokens: number;
}

export interface EngineChat {
  chatWrapper: {
    generateContextState(of: { chatHistory: HistoryItem[]; availableFunctions: LlamaFunctions }): {
      contextText: { tokenize(tokenizer: unknown): number[] };
    };
  };
  generateResponse(history: HistoryItem[], options: GenerateOptions): Promise<EngineReply>;
}

interface GenerateOptions {
  functions?: Record<string, { description: string; params?: GrammarSchema }>;
  maxTokens: number;
  temperature: number;
  topP: number;
  signal: AbortSignal;
  stopOnAbortSignal: true;
  onResponseChunk(chunk: { type: string | undefined; text: string }): void;
}

export interface EngineReply {
  functionCalls?: { functionName: string; params: unknown }[];
  metadata: { stopReason: string };
}

export interface LoadedChat {
  use: 'chat';
  chat: EngineChat;
  model: EngineModel;
  sequence: Sequence;
}

export interface LoadedVectors {
  use: 'vectors';
  model: EngineModel;
  context: EmbeddingContext;
  contextSize: number;
}

export const loadModel = async (request: LoadRequest): Promise<LoadedChat | LoadedVectors> => {
  const { engine, threads, useGpu, use } = request;
  const entry = join(engine, 'node_modules/node-llama-cpp/dist/index.js');
  const { getLlama, LlamaChat }: EnginePackage = await import(pathToFileURL(entry).href);
  const llama = await getLlama({
    gpu: useGpu ? 'auto' : false,
    build: 'never',
    skipDownload: true,
    logLevel: 'error',
    maxThreads: threads,
  });
  const model = await llama.loadModel({ modelPath: request.model });
  const contextSize = Math.min(request.contextWindow, model.trainContextSize);
  if (use === 'vectors') {
    const context = await model.createEmbeddingContext({ contextSize, threads });
    return { use, model, context, contextSize };
  }
  const context = await model.createContext({ contextSize, threads });
  const sequence = context.getSequence();
  return { use, model, sequence, chat: new LlamaChat({ contextSequence: sequence }) };
};
