import { errorCode, NamedError } from '../kernel/failure.js';
import type { Http } from '../kernel/http.js';
import { memberAt, numberAt, parsedJson, textAt } from '../kernel/jsonvalue.js';
import { ollamaRoot } from '../providers/llm/adapters.js';

/** The error of an Ollama server; it says what the server said. */
export class OllamaFailed extends NamedError {
  constructor(
    message: string,
    /** True if the connection broke and the pull may go on. */
    readonly isBroken: boolean,
  ) {
    super(message);
  }
}

export interface PullProgress {
  done: number;
  total: number | null;
  note: string;
}

const LIMITS = {
  firstByteMs: 120_000,
  silenceMs: 300_000,
  totalMs: 2_000_000_000,
  maxBytes: 1024 * 1024 * 1024,
};
/** Ours: the most characters of one line. */
const LONGEST_LINE = 1_000_000;

/** Creates the calls to the Ollama at an address (docs/api.md of Ollama: pull, tags, delete). */
export const createOllamaLibrary = (http: Pick<Http, 'fetchFor'>, address: () => string) => {
  const post = (path: string, body: object, signal: AbortSignal, method = 'POST') => {
    const baseUrl = address();
    return http.fetchFor(baseUrl, LIMITS)(`${ollamaRoot(baseUrl)}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal,
    });
  };
  return {
    /** Pulls a model. Ollama goes on by itself from what it has. Throws OllamaFailed. */
    pull: async (
      model: string,
      { signal, told }: { signal: AbortSignal; told(progress: PullProgress): void },
    ): Promise<void> => {
      const layers = new Map<string, { done: number; total: number }>();
      for await (const line of linesOf(
        () => post('/api/pull', { model, stream: true }, signal),
        signal,
      )) {
        const error = textAt(line, 'error');
        if (error !== null) throw new OllamaFailed(error.slice(0, 500), false);
        const status = textAt(line, 'status') ?? '';
        if (status === 'success') return;
        const digest = textAt(line, 'digest');
        const total = numberAt(line, 'total');
        if (digest !== null && total !== null) {
          layers.set(digest, { done: numberAt(line, 'completed') ?? 0, total });
        }
        told({ ...sumOf([...layers.values()]), note: status.slice(0, 200) });
      }
      throw new OllamaFailed('Ollama ended the pull before it was complete', true);
    },
    /** Returns true if Ollama lists the model (`/api/tags`). */
    has: async (model: string, signal: AbortSignal): Promise<boolean> => {
      const baseUrl = address();
      const reply = await http.fetchFor(baseUrl, LIMITS)(`${ollamaRoot(baseUrl)}/api/tags`, {
        signal,
      });
      const models = memberAt(parsedJson(await reply.text()), 'models');
      const names = Array.isArray(models) ? models.map((each) => textAt(each, 'name')) : [];
      return names.includes(model) || names.includes(`${model}:latest`);
    },
    remove: async (model: string, signal: AbortSignal): Promise<void> => {
      const reply = await post('/api/delete', { model }, signal, 'DELETE');
      await reply.text();
      if (!reply.ok) throw new OllamaFailed(`Ollama answered ${reply.status}`, false);
    },
  };
};

export type OllamaLibrary = ReturnType<typeof createOllamaLibrary>;

const sumOf = (layers: { done: number; total: number }[]) => ({
  done: layers.reduce((sum, { done }) => sum + done, 0),
  total: layers.length === 0 ? null : layers.reduce((sum, { total }) => sum + total, 0),
});

/** Reads the lines of JSON of a reply. A broken connection is an OllamaFailed that may go on. */
async function* linesOf(
  ask: () => Promise<Response>,
  signal: AbortSignal,
): AsyncGenerator<unknown, void, undefined> {
  let rest = '';
  try {
    const reply = await ask();
    if (!reply.ok) throw await refusalOf(reply);
    const decoder = new TextDecoder();
    for await (const piece of reply.body ?? []) {
      rest += decoder.decode(piece, { stream: true });
      if (rest.length > LONGEST_LINE) throw new OllamaFailed('Ollama sent a line too long', false);
      const lines = rest.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines.filter((each) => each.trim() !== '')) yield parsedJson(line);
    }
    if (rest.trim() !== '') yield parsedJson(rest);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof OllamaFailed) throw error;
    const message = error instanceof Error ? error.message : errorCode(error);
    throw new OllamaFailed(message, true);
  }
}

const refusalOf = async (reply: Response): Promise<OllamaFailed> => {
  const said = textAt(parsedJson(await reply.text()), 'error');
  return new OllamaFailed(said?.slice(0, 500) ?? `Ollama answered ${reply.status}`, false);
};
