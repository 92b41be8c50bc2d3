import { HttpFailure } from '../../kernel/failure.js';
import { parsedJson } from '../../kernel/jsonvalue.js';
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
        for (const each of learned) traits.adaptations.add(each);
        if (init?.signal) begun(init.signal);
        return response;
      }
      const excerpt = await opening(response);
      const next = adaptationFor({ adaptations }, { status: response.status, excerpt }, body);
      if (next === null) throw refusal(options, input, response, excerpt);
      learned.push(next);
    }
  };
};

/** An error inside a stream. `code` may be the status. */
export const streamErrorFailure = (name: string, frame: unknown): ModelFailure => {
  const excerpt = JSON.stringify(frame) ?? '';
  const status =
    /"code":"?([45]\d\d)\b/.exec(excerpt)?.[1] ?? (/rate_?limit/i.test(excerpt) ? 429 : 500);
  const kind = TOO_LONG.test(excerpt)
    ? 'context_length'
    : classifyHttpFailure(Number(status), excerpt);
  return new ModelRefusal(
    kind,
    `${name} aborted its reply with an error${reasonText({ name, kind, status: Number(status), excerpt })}`,
    usageIn(frame),
  );
};

const refusal = (
  { name, modelId }: WireOptions,
  input: Parameters<GlobalFetch>[0],
  { status, headers }: Response,
  excerpt: string,
): ModelFailure => {
  const kind = classifyHttpFailure(status, excerpt);
  const called = { modelId, url: input instanceof Request ? input.url : `${input}` };
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
  /** Missing if the error was in a stream. */
  called?: { modelId: string; url: string };
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
  if (status !== 404 || !called) return null;
  if (NO_MODEL.test(excerpt)) return `: its server has no model ${called.modelId}`;
  if (hasUsualPath(new URL(called.url))) return null;
  return '. Check the base URL: it usually ends in /v1';
};

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
