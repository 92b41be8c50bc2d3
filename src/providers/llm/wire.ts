import { HttpFailure } from '../../kernel/failure.js';
import { isRecord, listAt, parsedJson } from '../../kernel/jsonvalue.js';
import { adaptationFor, adaptBody, type DialectTraits } from './dialect.js';
import { featureRemedy, noReplyFailure } from './failure.js';
import { type ModelFailure, type ModelFailureKind, ModelRefusal } from './model.js';
import { usageIn } from './usage.js';

export type GlobalFetch = typeof globalThis.fetch;

const REFUSAL_BYTES = 16_384;

const BY_STATUS = new Map<number, ModelFailureKind>([
  [401, 'credentials'],
  [402, 'credentials'],
  [403, 'credentials'],
  [404, 'unknown_model'],
  [408, 'timeout'],
  [413, 'context_length'],
  [429, 'rate_limited'],
]);
/** Error texts of OpenAI, vLLM, llama.cpp, Ollama, Groq, Gemini and Anthropic. */
const TOO_LONG =
  /context[ _](length|window|size)|maximum number of tokens|prompt is too long|reduce the length/i;
/** Google returns 400 for a wrong key. */
const WRONG_KEY = /API_KEY_INVALID/;
/** `RetryInfo`, Google's counterpart of Retry-After. */
const RETRY_DELAY = /"retryDelay":\s*"(\d{1,6})(\.\d+)?s"/;
/** Codes that are safe to report. Other text may quote the prompt or the key. */
const TOLD =
  /\b(model_not_found|insufficient_quota|invalid_api_key|unsupported_parameter|unsupported_value)\b/;
/** Request fields that are safe to report. */
const FIELD =
  /\b(stream_options|max_completion_tokens|max_tokens|tool_choice|reasoning_content|reasoning_details)\b/;
const NO_TOOLS =
  /(?:support|capab)\w*\b.{0,40}\b(?:tools?|functions?)\b|\b(?:tools?|functions?)\b.{0,60}not (?:supported|support|allowed|permitted|available)/is;
/** Ollama, vLLM, OpenAI and Google. Anthropic returns `not_found_error` and `model: `. */
const NO_MODEL =
  /model_not_found|\bmodels?\b.{0,250}(?:does not exist|not found)|not_found_error.{0,40}"model:/is;
/** LM Studio. */
const NO_PATH = /unexpected endpoint/i;
/** llama.cpp. */
const LOADING = /"message":\s*"Loading model/i;
export const KEY_REFUSED = 'its server refused the API key';
/** Meaning of error texts of servers. */
const CAUSES: [RegExp, string | ((name: string) => string)][] = [
  [
    /enable-auto-tool-choice|tool-call-parser/,
    'its server supports tools only if started with --enable-auto-tool-choice and --tool-call-parser',
  ],
  [/--jinja/, 'its server supports tools only if started with --jinja'],
  [NO_TOOLS, (name) => `it does not support tools. ${featureRemedy(name, 'tools')}`],
  [/no models? (?:is |are )?loaded|model is not loaded/i, 'its server has no model loaded'],
  [/insufficient (?:balance|credits?)|more credits/i, 'its account has no credit left'],
  [
    /alternat|unexpected role|expected last role/i,
    'its chat template requires another order of roles',
  ],
  [/system (?:role|message|prompt)/i, 'its chat template rejects the system message'],
];

export interface WireOptions {
  name: string;
  modelId: string;
  fetch: GlobalFetch;
  traits: DialectTraits;
  begun(signal: AbortSignal): void;
}

/**
 * Any status but 2xx is a ModelFailure. A rejected feature is omitted in a retry, and in later
 * requests if the retry succeeds.
 */
export const createWireFetch = (options: WireOptions): GlobalFetch => {
  const { name, fetch, traits, begun } = options;
  return async (input, init) => {
    const text = typeof init?.body === 'string' ? init.body : '';
    const learned: string[] = [];
    for (;;) {
      const adaptations = new Set([...traits.adaptations, ...learned]);
      const body = adaptBody(text, { adaptations });
      const sent = text === '' ? init : { ...init, body };
      const response = await fetch(input, sent).catch((error: unknown) => {
        throw noReplyFailure(name, error);
      });
      if (response.ok) {
        if (init?.signal) begun(init.signal);
        const reply = await checkedReply(options, input, response);
        for (const each of learned) traits.adaptations.add(each);
        return reply;
      }
      const excerpt = await opening(response);
      const next = adaptationFor({ adaptations }, { status: response.status, excerpt }, body);
      if (next === null) throw refusal(options, input, response, excerpt);
      learned.push(next);
    }
  };
};

/** Enough to tell a web page from JSON. */
const PAGE_BYTES = 256;

/**
 * Throws for an error or a web page with the status of a success. LM Studio replies so to a wrong
 * path, and OpenRouter if its provider fails.
 */
const checkedReply = async (
  options: WireOptions,
  input: Parameters<GlobalFetch>[0],
  response: Response,
): Promise<Response> => {
  const type = response.headers.get('content-type') ?? '';
  const isPage = /^text\/html\b/i.test(type);
  if (!response.body || !(isPage || /^application\/json\b/i.test(type))) return response;
  const pieces = response.body[Symbol.asyncIterator]();
  const begin = await beginningOf(pieces, isPage ? PAGE_BYTES : REFUSAL_BYTES);
  const failure = failureIn(begin.toString(), options, urlOf(input));
  if (failure !== null) {
    await pieces.return?.();
    throw failure;
  }
  const { status, headers } = response;
  return new Response(joined(begin, pieces), { status, headers });
};

type Pieces = AsyncIterableIterator<Uint8Array>;

const beginningOf = async (pieces: Pieces, bytes: number): Promise<Buffer> => {
  let begin = Buffer.alloc(0);
  while (begin.length < bytes) {
    const { value, done } = await pieces.next();
    if (done) break;
    begin = Buffer.concat([begin, value]);
  }
  return begin;
};

async function* joined(begin: Buffer, pieces: Pieces): AsyncGenerator<Uint8Array> {
  // An empty piece would not be read on.
  if (begin.length > 0) yield begin;
  yield* pieces;
}

const failureIn = (
  excerpt: string,
  { name, modelId }: WireOptions,
  url: string,
): ModelFailure | null => {
  if (/^\s*</.test(excerpt)) {
    return new ModelRefusal('invalid_reply', `${name} sent a web page${addressReason(url)}`, {});
  }
  const reply = excerpt.length < REFUSAL_BYTES ? parsedJson(excerpt) : undefined;
  if (!isErrorReply(reply)) return null;
  return errorFailure(reply, { name, called: { modelId, url }, what: 'sent an error' });
};

/** The second form is that of older versions of vLLM. */
export const isErrorReply = (reply: unknown): boolean =>
  isRecord(reply) &&
  (Boolean(reply.error) || reply.object === 'error') &&
  listAt(reply, 'choices').length === 0;

/** An error inside a stream. */
export const streamErrorFailure = (
  { name, modelId }: { name: string; modelId: string },
  frame: unknown,
): ModelFailure =>
  errorFailure(frame, { name, called: { modelId }, what: 'aborted its reply with an error' });

/** `code` may be the status. */
const errorFailure = (
  reply: unknown,
  { name, called, what }: { name: string; called: CalledModel; what: string },
): ModelFailure => {
  const excerpt = JSON.stringify(reply) ?? '';
  const code = /"(?:code|status)":"?([45]\d\d)\b/.exec(excerpt)?.[1];
  const status = Number(code ?? guessStatus(excerpt));
  const kind = TOO_LONG.test(excerpt) ? 'context_length' : classifyHttpFailure(status, excerpt);
  const reason = reasonText({ name, kind, status, excerpt, called });
  return new ModelRefusal(kind, `${name} ${what}${reason}`, usageIn(reply));
};

const guessStatus = (excerpt: string): number => {
  if (/rate_?limit/i.test(excerpt)) return 429;
  return NO_MODEL.test(excerpt) || NO_PATH.test(excerpt) ? 404 : 500;
};

const urlOf = (input: Parameters<GlobalFetch>[0]): string =>
  input instanceof Request ? input.url : `${input}`;

const refusal = (
  { name, modelId }: WireOptions,
  input: Parameters<GlobalFetch>[0],
  { status, headers }: Response,
  excerpt: string,
): ModelFailure => {
  const kind = classifyHttpFailure(status, excerpt);
  const called = { modelId, url: urlOf(input) };
  return new ModelRefusal(
    kind,
    `${name} answered ${status}${reasonText({ name, kind, status, excerpt, called })}`,
    usageIn(parsedJson(excerpt)),
    retryAfterMs(headers) ?? retryDelayMs(excerpt),
  );
};

/** If the reply is aborted, returns what was received. */
const opening = async (response: Response): Promise<string> => {
  let excerpt = Buffer.alloc(0);
  try {
    for await (const piece of response.body ?? []) {
      excerpt = Buffer.concat([excerpt, piece]);
      if (excerpt.length >= REFUSAL_BYTES) break;
    }
  } catch (error) {
    if (!(error instanceof HttpFailure)) throw error;
  }
  return excerpt.toString('utf8', 0, REFUSAL_BYTES);
};

const classifyHttpFailure = (status: number, excerpt: string): ModelFailureKind => {
  if ((status === 400 || status === 422) && TOO_LONG.test(excerpt)) return 'context_length';
  if (status === 400 && WRONG_KEY.test(excerpt)) return 'credentials';
  // OpenRouter returns 404 if no provider of the model supports tools.
  if (status === 404 && NO_TOOLS.test(excerpt)) return 'bad_request';
  return BY_STATUS.get(status) ?? (status >= 500 ? 'server' : 'bad_request');
};

interface ErrorReply {
  name: string;
  kind: ModelFailureKind;
  status: number;
  excerpt: string;
  called: CalledModel;
}

interface CalledModel {
  modelId: string;
  /** Missing if the error was in a stream, so that the address is right. */
  url?: string;
}

const reasonText = (reply: ErrorReply): string => {
  const { name, excerpt } = reply;
  const cause = CAUSES.find(([pattern]) => pattern.test(excerpt))?.[1];
  if (cause) return `: ${typeof cause === 'string' ? cause : cause(name)}`;
  const known = reasonOfStatus(reply);
  if (known !== null) return known;
  const code = TOLD.exec(excerpt)?.[1] ?? FIELD.exec(excerpt)?.[1];
  return code ? ` (${code})` : '';
};

const reasonOfStatus = ({ kind, status, excerpt, called }: ErrorReply): string | null => {
  if (kind === 'credentials' && status !== 402) return `: ${KEY_REFUSED}`;
  if (TOO_LONG.test(excerpt) && kind === 'context_length')
    return ': the request exceeds its context window';
  if (status === 503 && LOADING.test(excerpt))
    return ': its server is still loading the model. Try again';
  if (status !== 404) return null;
  if (NO_MODEL.test(excerpt)) return `: its server has no model ${called.modelId}`;
  return (called.url !== undefined && addressReason(called.url)) || null;
};

const addressReason = (url: string): string =>
  hasUsualPath(new URL(url)) ? '' : '. Check the base URL: it usually ends in /v1';

/** The base URL of Ollama has no path. */
const hasUsualPath = ({ pathname }: URL): boolean =>
  /\/v\d[^/]*\/|\/api\/(?:chat|embed)$/.test(pathname) && !/completions\//.test(pathname);

/** A date is compared with the clock of the sender (RFC 9110, 10.2.3). */
const retryAfterMs = (headers: Headers): number | undefined => {
  const after = headers.get('retry-after') ?? '';
  if (/^\d{1,7}$/.test(after)) return Number(after) * 1000;
  const waitMs = Date.parse(after) - Date.parse(headers.get('date') ?? '');
  return waitMs > 0 ? waitMs : undefined;
};

const retryDelayMs = (excerpt: string): number | undefined => {
  const seconds = RETRY_DELAY.exec(excerpt)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
};
