import { isRecord, listAt, numberAt, parsedJson, textAt } from '../../../kernel/jsonvalue.js';

/** A part of a reply of the model: text, or a call of a tool with its result. */
export type ResponsePart =
  | string
  | {
      type: 'functionCall';
      name: string;
      params: unknown;
      result: unknown;
      /** True for the first of the calls that were made together. */
      startsNewChunk: boolean;
    };

/** A message, in the form of node-llama-cpp. */
export type HistoryItem =
  | { type: 'system' | 'user'; text: string }
  | { type: 'model'; response: ResponsePart[] };

/** The tools by their names, with the schema of their arguments as a grammar can hold it. */
export type LlamaFunctions = Record<string, { description: string; params?: GrammarSchema }>;
export type GrammarSchema = Record<string, unknown>;

/** Loads the model; it is the first request to a process. */
export interface LoadRequest {
  do: 'load';
  /** The folder that has node-llama-cpp in its node_modules. */
  engine: string;
  /** The GGUF file, the first of several if it is split. */
  model: string;
  contextWindow: number;
  threads: number;
  useGpu: boolean;
  /** The requests that will follow: for replies, or for vectors. */
  use: 'chat' | 'vectors';
}

/** Asks for a reply. */
export interface GenerateRequest {
  do: 'generate';
  history: HistoryItem[];
  functions: LlamaFunctions;
  maxOutputTokens: number | null;
}

/** Asks for the vectors of texts. */
export interface EmbedRequest {
  do: 'embed';
  texts: string[];
}

export type LlamaRequest = LoadRequest | GenerateRequest | EmbedRequest;

/** A line to the process: a request, or the end of the one with that ID. */
export type LlamaInput = ({ id: number } & LlamaRequest) | { id: number; do: 'abort' };

/** The tokens that a request has taken, as the engine counted them. */
export interface LlamaUsage {
  inputTokens: number;
  outputTokens: number;
}

/** A part of an answer. An empty text is a sign of life. */
export type LlamaPart = { is: 'text'; text: string } | { is: 'vector'; vector: number[] };

/** The end of an answer. */
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
/** The cause of a failure: the prompt is too long, or something else. */
export type LlamaFault = 'context_length' | 'engine';

/** A line of the process. */
export type LlamaLine = { id: number } & (LlamaPart | LlamaEnd);

/** Reads a line of the process; null if it is none of the protocol. */
export const readLlamaLine = (line: string): LlamaLine | null => {
  const parsed = parsedJson(line);
  const id = numberAt(parsed, 'id');
  const said = readers[textAt(parsed, 'is') ?? '']?.(parsed) ?? null;
  return id === null || said === null ? null : { id, ...said };
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
    const usage = usageOf(line);
    const calls = listAt(line, 'calls').flatMap(callOf);
    return finish && usage ? { is: 'reply', finish, usage, calls } : null;
  },
  embedded: (line) => {
    const usage = usageOf(line);
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

const usageOf = (line: unknown): LlamaUsage | null => {
  const inputTokens = numberAt(line, 'usage', 'inputTokens');
  const outputTokens = numberAt(line, 'usage', 'outputTokens');
  return inputTokens === null || outputTokens === null ? null : { inputTokens, outputTokens };
};

const callOf = (call: unknown): LlamaCall[] => {
  const name = textAt(call, 'name');
  const params = isRecord(call) && isRecord(call.params) ? call.params : {};
  return name === null ? [] : [{ name, params }];
};
