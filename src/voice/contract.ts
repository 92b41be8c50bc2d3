import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';

/** The most bytes of audio, and of the same as base64 in JSON. */
export const AUDIO_BYTES = 25 * 1024 * 1024;
const JSON_BYTES = 35 * 1024 * 1024;
/** The longest audio, in seconds. */
export const AUDIO_SECONDS = 2 * 3600;

const status = () =>
  s.oneOf('TranscriptionStatus', 'queued', 'running', 'completed', 'failed', 'cancelled');
const seconds = () => s.amount(0, AUDIO_SECONDS + 60);
const language = () => s.text(20).pattern(/^[a-z]{2,3}([_-][A-Za-z]{2,4})?$/, 'a code such as en');
const wait = () => s.queryWhole(0, 60);

const transcription = {
  id: s.id('transcription'),
  status: status(),
  filename: s.nullable(s.text(255)),
  mediaType: s.text(100).description('Told by its content'),
  bytes: s.whole(0, AUDIO_BYTES),
  durationSeconds: s.nullable(seconds()).description('null: it is not decoded yet'),
  language: s.nullable(s.text(20)),
  engine: s.nullable(s.oneOf('SpeechEngine', 'model', 'whisper', 'pocketsphinx')),
  model: s.nullable(s.text(200)).description('Of that engine'),
  reason: s
    .nullable(s.oneOf('NoTextReason', 'silence', 'no_speech', 'not_understood'))
    .description('Why the text is empty'),
  passedOver: s.list(
    s.object('PassedOverEngine', { engine: s.text(200), because: s.anyText(2000) }),
    20,
  ),
  costUsd: s.nullable(s.amount(0, Number.MAX_SAFE_INTEGER)),
  error: s.nullable(s.anyText(2000)),
  code: s
    .nullable(s.text(60))
    .description('`damaged`, `too_long`, `too_large`, `unsupported`, `no_engine` or `interrupted`'),
  operationId: s.id('operation'),
  createdAt: s.time(),
  finishedAt: s.nullable(s.time()),
};

/** A transcription in a list. */
export const TranscriptionView = s.object('Transcription', {
  ...transcription,
  excerpt: s.nullable(s.anyText(200)).description('The beginning of its text'),
});
export type TranscriptionView = s.Static<typeof TranscriptionView>;

/** A transcription with its text. */
export const TranscriptionDetail = s.object('TranscriptionDetail', {
  ...transcription,
  text: s
    .nullable(s.anyText(5_000_000))
    .description('As far as it is; null before the first words'),
  segments: s.list(
    s.object('TranscriptionSegment', {
      start: seconds().description('Seconds from the beginning'),
      end: seconds(),
      text: s.anyText(100_000),
    }),
    200_000,
  ),
});
export type TranscriptionDetail = s.Static<typeof TranscriptionDetail>;

export const voice = contract({
  transcribe: endpoint.post('/api/voice/transcribe', {
    summary: 'Transcribe audio; 200 with its text, 202 where it takes longer',
    query: s.object('TranscribeWait', {
      wait: s.optional(wait().description('Seconds to wait for its text, 60 unless given')),
    }),
    form: {
      files: 'audio',
      mostFiles: 1,
      fileBytes: AUDIO_BYTES,
      bytes: JSON_BYTES,
      jsonBytes: JSON_BYTES,
      fields: s.object('TranscribeFields', {
        format: s.optional(s.text(100).description('A remark: the content alone tells its kind')),
        language: s.optional(language().description('The language that is spoken, if it is known')),
        model: s.optional(
          s.text(200).description('A registered model, or `pocketsphinx`, and no other'),
        ),
        prompt: s.optional(s.text(1000).description('Names and words that are spoken, for models')),
      }),
    },
    reply: TranscriptionDetail,
    otherReplies: { 202: TranscriptionDetail },
  }),
  list: endpoint.get('/api/voice/transcriptions', {
    summary: 'List your transcriptions, newest first, without their texts',
    query: pageQuery('TranscriptionQuery', { status: s.optional(status()) }),
    reply: pageOf('transcriptions', TranscriptionView),
  }),
  get: endpoint.get('/api/voice/transcriptions/{id}', {
    summary: 'Show a transcription with its text',
    query: s.object('TranscriptionWait', {
      wait: s.optional(wait().description('Seconds to wait for its end, 0 unless given')),
    }),
    reply: TranscriptionDetail,
  }),
  cancel: endpoint.post('/api/voice/transcriptions/{id}/cancel', {
    summary: 'End a transcription; what was transcribed stays',
    reply: TranscriptionDetail,
  }),
  delete: endpoint.delete('/api/voice/transcriptions/{id}', {
    summary: 'Forget a transcription; one that goes on is cancelled first',
  }),
});
