import { isRecord, listAt, numberAt, parsedJson, textAt } from '../../../kernel/jsonvalue.js';

export type ResponsePart =
  | string
  | {
      type: 'functionCall';
      name: string;
      params: unknown;
      result: unknown;
      /** Whether the call is the first of those made together. */
      startsNewChunk: boolean;
    };

export type HistoryItem =
  | { type: 'system' | 'user'; text: string }
  | { type: 'model'; response: ResponsePart[] };

/** Argument schemas in the form that a grammar supports. */
export type LlamaFunctions = Record<string, { description: string; params?: GrammarSchema }>;
export type GrammarSchema = Record<string, unknown>;

export interface LoadRequest {
  do: 'load';
  /** Contains node-llama-cpp in its node_modules. */
  engine: string;
  model: string;
  contextWindow: number;
  threads: number;
  useGpu: boolean;
  /** Purpose of the following requests. */
  use: 'chat' | 'vectors';
}

export interface GenerateRequest {
  do: 'generate';
  history: HistoryItem[];
  functions: LlamaFunctions;
  maxOutputTokens: number | null;
}

export interface EmbedRequest {
  do: 'embed';
  texts: string[];
}

export type LlamaRequest = LoadRequest | GenerateRequest | EmbedRequest;

/** `abort` ends the request with the ID. */
export type LlamaInput = ({ id: number } & LlamaRequest) | { id: number; do: 'abort' };

/** As counted by the engine. */
export interface LlamaUsage {
  inputTokens: number;
  outputTokens: number;
}

/** An empty text is a sign of life. */
export type LlamaPart = { is: 'text'; text: string } | { is: 'vector'; vector: number[] };

export type LlamaEnd =
  | { is: 'loaded' }
  | { is: 'reply'; calls: LlamaCall[]; finish: LlamaFinish; usage: LlamaUsage }
  | { is: 'embedded'; usage: LlamaUsage }
  | { is: 'failed'; fault: LlamaFault; message: string };

export interface LlamaCall {
  name: string;
  params: Record<string, unknown>;
}
export type LlamaFinish = 'stop' | 'length' | 'aborted';
/** `context_length`: the prompt is too long. */
export type LlamaFault = 'context_length' | 'engine';

export type LlamaLine = { id: number } & (LlamaPart | LlamaEnd);

export const readLlamaLine = (line: string): LlamaLine | null => {
  const parsed = parsedJson(line);
  const id = numberAt(parsed, 'id');
  const content = readers[textAt(parsed, 'is') ?? '']?.(parsed) ?? null;
  return id === null || content === null ? null : { id, ...content };
};

type AnswerReader = (line: unknown) => LlamaPart | LlamaEnd | null;

const readers: Partial<Record<string, AnswerReader>> = {
  text: (line) => {
    const text = textAt(line, 'text');
    return text === null ? null : { is: 'text', text };
  },
  vector: (line) => {
    const given = listAt(line, 'vector');
    const vector = given.filter((each): each is number => Number.isFinite(each));
    return vector.length === given.length ? { is: 'vector', vector } : null;
  },
  loaded: () => ({ is: 'loaded' }),
  reply: (line) => {
    const finish = FINISHES.find((each) => each === textAt(line, 'finish'));
    const usage = parseLlamaUsage(line);
    const calls = listAt(line, 'calls').flatMap(parseLlamaCall);
    return finish && usage ? { is: 'reply', finish, usage, calls } : null;
  },
  embedded: (line) => {
    const usage = parseLlamaUsage(line);
    return usage && { is: 'embedded', usage };
  },
  failed: (line) => {
    const message = textAt(line, 'message');
    const fault = FAULTS.find((each) => each === textAt(line, 'fault'));
    return message === null || !fault ? null : { is: 'failed', fault, message };
  },
};

const FINISHES: LlamaFinish[] = ['stop', 'length', 'aborted'];
const FAULTS: LlamaFault[] = ['context_length', 'engine'];

const parseLlamaUsage = (line: unknown): LlamaUsage | null => {
  const inputTokens = numberAt(line, 'usage', 'inputTokens');
  const outputTokens = numberAt(line, 'usage', 'outputTokens');
  return inputTokens === null || outputTokens === null ? null : { inputTokens, outputTokens };
};

const parseLlamaCall = (call: unknown): LlamaCall[] => {
  const name = textAt(call, 'name');
  const params = isRecord(call) && isRecord(call.params) ? call.params : {};
  return name === null ? [] : [{ name, params }];
};
