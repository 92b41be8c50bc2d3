import { isLoopbackHost } from '../kernel/clientaddress.js';
import type { Clock } from '../kernel/clock.js';
import { errorCode, HttpFailure, NamedError } from '../kernel/failure.js';
import type { Http } from '../kernel/http.js';
import { memberAt, numberAt, parsedJson, textAt } from '../kernel/jsonvalue.js';
import { ollamaRoot } from '../providers/llm/adapters.js';
import { printableLine } from '../providers/llm/quote.js';
import { checkDiskSpaceIn } from './diskspace.js';

export class OllamaFailed extends NamedError {
  constructor(
    message: string,
    /** True if the connection broke and the pull can be resumed. */
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
/** Also the limit for data without a line end. */
const MAX_LINE_LENGTH = 16_384;
/** Lines read before other work gets its turn. */
const LINES_AT_ONCE = 200;
/** After LINES_AT_ONCE lines: at most 2,000 lines per second. */
const PAUSE_MS = 100;
/** Limit for calls that only read or delete. */
const SHORT_MS = 10_000;
const SHORT_BYTES = 16 * 1024 * 1024;

interface OllamaPlace {
  address(): string;
  /** Model folders of a local Ollama. */
  folders: string[];
  shortMs?: number;
  clock: Clock;
}

const pullErrorMessage = (model: string, error: string): string =>
  /pull model manifest: file does not exist/.test(error)
    ? `The Ollama library has no model ${model}`
    : printableLine(error, 500);

/** docs/api.md of Ollama: pull, tags, show, delete. */
export const createOllamaLibrary = (
  http: Pick<Http, 'fetchFor'>,
  { address, folders, shortMs = SHORT_MS, clock }: OllamaPlace,
) => {
  const short = async (method: string, path: string, input: ShortCall): Promise<string> => {
    const baseUrl = address();
    const { signal, body } = input;
    const limits = { firstByteMs: shortMs, silenceMs: shortMs, totalMs: shortMs };
    try {
      const reply = await http.fetchFor(baseUrl, { ...limits, maxBytes: SHORT_BYTES })(
        `${ollamaRoot(baseUrl)}${path}`,
        { method, signal, ...(body && { headers: JSON_TYPE, body: JSON.stringify(body) }) },
      );
      const text = await reply.text();
      if (!reply.ok) throw refusalFrom(reply.status, text);
      return text;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof OllamaFailed) throw error;
      const why =
        error instanceof HttpFailure && error.kind === 'timeout'
          ? `no response within ${shortMs / 1000} s`
          : getErrorMessage(error);
      throw new OllamaFailed(
        `${method} ${path} failed at Ollama on ${baseUrl}: ${why}. Check that Ollama is running there`,
        false,
      );
    }
  };
  const post = (path: string, body: object, signal: AbortSignal) => {
    const baseUrl = address();
    return http.fetchFor(baseUrl, LIMITS)(`${ollamaRoot(baseUrl)}${path}`, {
      method: 'POST',
      headers: JSON_TYPE,
      body: JSON.stringify(body),
      signal,
    });
  };
  return {
    /** Ollama resumes by itself. Throws OllamaFailed. */
    pull: async (
      model: string,
      { signal, onProgress }: { signal: AbortSignal; onProgress(progress: PullProgress): void },
    ): Promise<void> => {
      const layers = createLayers();
      for await (const content of linesOf(
        () => post('/api/pull', { model, stream: true }, signal),
        { signal, clock },
      )) {
        const error = textAt(content, 'error');
        if (error !== null) throw new OllamaFailed(pullErrorMessage(model, error), false);
        const status = textAt(content, 'status') ?? '';
        if (status === 'success') return;
        onProgress({ ...layers.take(content), note: printableLine(status, 200) });
      }
      throw new OllamaFailed(
        'Ollama ended the pull before the pull was complete. Install the model again',
        true,
      );
    },
    /** `/api/tags`. */
    has: async (model: string, signal: AbortSignal): Promise<boolean> => {
      const models = memberAt(parsedJson(await short('GET', '/api/tags', { signal })), 'models');
      const names = Array.isArray(models) ? models.map((each) => textAt(each, 'name')) : [];
      return names.includes(model) || names.includes(`${model}:latest`);
    },
    remove: async (model: string, signal: AbortSignal): Promise<void> => {
      await short('DELETE', '/api/delete', { body: { model }, signal });
    },
    /** `/api/show`; '' if there is no licence. */
    licenceOf: async (model: string, signal: AbortSignal): Promise<string> => {
      const shown = await short('POST', '/api/show', { body: { model }, signal });
      return textAt(parsedJson(shown), 'license') ?? '';
    },
    /** False if the free space is not known. Throws DownloadFailed if it does not suffice. */
    checkRoom: async (bytes: number | null): Promise<boolean> =>
      isLoopbackHost(new URL(address()).hostname) && checkDiskSpaceIn(folders, bytes),
  };
};

interface ShortCall {
  signal: AbortSignal;
  body?: object;
}

const JSON_TYPE = { 'content-type': 'application/json' };

export type OllamaLibrary = ReturnType<typeof createOllamaLibrary>;

const MAX_LAYERS = 512;

/** Sums up the progress of all files of a pull. */
const createLayers = () => {
  const layers = new Map<string, { done: number; total: number }>();
  const sum = { done: 0, total: 0 };
  return {
    take: (line: unknown): { done: number; total: number | null } => {
      const digest = textAt(line, 'digest');
      const total = wholeAt(line, 'total');
      if (digest !== null && total !== null) {
        const before = layers.get(digest) ?? { done: 0, total: 0 };
        const done = Math.min(wholeAt(line, 'completed') ?? 0, total);
        layers.set(digest, { done, total });
        sum.done += done - before.done;
        sum.total += total - before.total;
      }
      if (layers.size > MAX_LAYERS) {
        throw new OllamaFailed(
          `Ollama reports more than ${MAX_LAYERS} files for the model. Choose another model`,
          false,
        );
      }
      return { done: sum.done, total: layers.size === 0 ? null : sum.total };
    },
  };
};

/** 8 TiB: larger values are ignored, so that sums stay exact. */
const MAX_BYTES = 2 ** 43;

const wholeAt = (line: unknown, name: string): number | null => {
  const found = numberAt(line, name);
  return found !== null && Number.isInteger(found) && found >= 0 && found <= MAX_BYTES
    ? found
    : null;
};

/** A broken connection is an OllamaFailed that can be resumed. */
async function* linesOf(
  ask: () => Promise<Response>,
  { signal, clock }: { signal: AbortSignal; clock: Clock },
): AsyncGenerator<unknown, void, undefined> {
  let rest = '';
  let read = 0;
  try {
    const reply = await ask();
    if (!reply.ok) throw refusalFrom(reply.status, await reply.text());
    const decoder = new TextDecoder();
    for await (const piece of reply.body ?? []) {
      rest += decoder.decode(piece, { stream: true });
      const lines = rest.split('\n');
      rest = lines.pop() ?? '';
      if ([rest, ...lines].some(({ length }) => length > MAX_LINE_LENGTH)) {
        throw new OllamaFailed(
          'Ollama sent an invalid reply: a line is too long. Update Ollama',
          false,
        );
      }
      for (const line of lines.filter((each) => each.trim() !== '')) {
        yield parsedJson(line);
        read += 1;
        if (read % LINES_AT_ONCE === 0) await clock.wait(PAUSE_MS, signal);
      }
    }
    if (rest.trim() !== '') yield parsedJson(rest);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof OllamaFailed) throw error;
    throw new OllamaFailed(getErrorMessage(error), true);
  }
}

const getErrorMessage = (error: unknown): string =>
  error instanceof Error ? error.message : errorCode(error);

const refusalFrom = (status: number, text: string): OllamaFailed => {
  const content = textAt(parsedJson(text), 'error');
  return new OllamaFailed(
    content ? printableLine(content, 500) : `Ollama returned ${status}`,
    false,
  );
};
