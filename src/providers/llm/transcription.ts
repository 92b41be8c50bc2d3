import { isRecord, parsedJson } from '../../kernel/jsonvalue.js';
import { adapters, type ModelEndpoint, type Provider } from './adapters.js';
import { abortFailure, assertKeySendable, modelFailure } from './failure.js';
import { ModelFailure } from './model.js';
import { type TokenUsage, usageIn } from './usage.js';
import { createWireFetch } from './wire.js';

export interface SpeechInput {
  wav: Buffer;
  language: string | null;
  prompt: string | null;
}

export interface TranscribedText {
  text: string;
  /** Seconds from the beginning. Empty if the provider reports no times. */
  segments: { start: number; end: number; text: string }[];
  /** As the provider names it. Null if it reports none. */
  language: string | null;
  usage: TokenUsage;
}

export interface TranscriptionModel {
  /** No retries. Every failure is a ModelFailure. */
  transcribe(speech: SpeechInput, signal: AbortSignal): Promise<TranscribedText>;
}

interface TranscriptionOptions extends ModelEndpoint {
  provider: Provider;
  apiKey?: string;
  keyOf?(): Promise<string | null>;
}

/** Providers with the interface of OpenAI: `POST /audio/transcriptions`. */
const HEARING: string[] = ['openai', 'litellm', 'openrouter', 'openai-compatible'];
/** These models report no times, and reject `verbose_json`. */
const TIMELESS = /^gpt-4o/;
const MAX_BYTES = 8 * 1024 * 1024;

/** Whether models of the provider can transcribe here. */
export const canTranscribe = (provider: string): provider is Provider => HEARING.includes(provider);

export const transcriptionModel = (options: TranscriptionOptions): TranscriptionModel => {
  const { name, provider, baseUrl } = options;
  const traits = { adaptations: new Set<string>() };
  const fetch = createWireFetch({ ...options, traits, begun: () => undefined });
  return {
    transcribe: async (speech, signal) => {
      const apiKey = (await options.keyOf?.()) ?? options.apiKey;
      assertKeySendable(name, apiKey);
      try {
        const form = new Response(buildFormData(options, speech));
        const response = await fetch(`${baseUrl.replace(/\/+$/, '')}/audio/transcriptions`, {
          method: 'POST',
          headers: {
            'content-type': form.headers.get('content-type') ?? '',
            ...(apiKey && adapters[provider].keyHeader(apiKey)),
          },
          body: Buffer.from(await form.arrayBuffer()),
          signal,
        });
        return parseTranscription(name, parsedJson(await replyText(name, response)));
      } catch (error) {
        throw signal.aborted ? abortFailure(name, signal) : modelFailure(name, error);
      }
    },
  };
};

const buildFormData = (
  { modelId }: TranscriptionOptions,
  { wav, language, prompt }: SpeechInput,
): FormData => {
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(wav)], { type: 'audio/wav' }), 'speech.wav');
  form.append('model', modelId);
  form.append('response_format', TIMELESS.test(modelId) ? 'json' : 'verbose_json');
  if (language !== null) form.append('language', language);
  if (prompt !== null) form.append('prompt', prompt);
  return form;
};

const replyText = async (name: string, response: Response): Promise<string> => {
  let bytes = 0;
  const pieces: Uint8Array[] = [];
  for await (const piece of response.body ?? []) {
    bytes += piece.length;
    if (bytes > MAX_BYTES)
      throw new ModelFailure(
        'invalid_reply',
        `${name} sent a reply of more than ${MAX_BYTES / 1024 ** 2} MiB. Transcribe a shorter recording`,
      );
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
};

const parseTranscription = (name: string, reply: unknown): TranscribedText => {
  if (!isRecord(reply) || typeof reply.text !== 'string') {
    throw new ModelFailure(
      'invalid_reply',
      `${name} sent a reply without text. Try again or use another model`,
    );
  }
  const { text, language } = reply;
  const listed = Array.isArray(reply.segments) ? reply.segments.filter(isRecord) : [];
  const segments = listed.flatMap(({ start, end, text: part }) =>
    isTime(start) && isTime(end) && typeof part === 'string' ? [{ start, end, text: part }] : [],
  );
  return {
    text,
    segments,
    language: typeof language === 'string' ? language.slice(0, 20) : null,
    usage: usageIn(reply),
  };
};

const isTime = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0;
