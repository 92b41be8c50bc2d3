import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { createPageSchema, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';

/** Maximum size of the audio in bytes. `JSON_BYTES` is the same as base64 in JSON. */
export const AUDIO_BYTES = 25 * 1024 * 1024;
const JSON_BYTES = 35 * 1024 * 1024;
export const AUDIO_SECONDS = 2 * 3600;

const status = () =>
  s.oneOf('TranscriptionStatus', 'queued', 'running', 'completed', 'failed', 'cancelled');
const seconds = () => s.number(0, AUDIO_SECONDS + 60);
const language = () => s.text(20).pattern(/^[a-z]{2,3}([_-][A-Za-z]{2,4})?$/, 'a code such as en');
const wait = () => s.queryWhole(0, 60);

const transcription = {
  id: s.id('transcription'),
  status: status(),
  filename: s
    .nullable(s.text(255))
    .description('Name of the uploaded file. `null` if the upload has no name'),
  mediaType: s.text(100).description('Media type, detected from the content'),
  bytes: s.integer(0, AUDIO_BYTES),
  durationSeconds: s
    .nullable(seconds())
    .description('Duration of the audio, in seconds. `null` until the audio is decoded'),
  language: s
    .nullable(s.text(20))
    .description('Language of the speech, as a code such as `en`. `null` if not known'),
  engine: s
    .nullable(s.oneOf('SpeechEngine', 'model', 'whisper', 'pocketsphinx'))
    .description('Engine that transcribed the audio. `null` until the first part is transcribed'),
  model: s
    .nullable(s.text(200))
    .description('Model used by the engine. `null` until the first part is transcribed'),
  reason: s
    .nullable(s.oneOf('NoTextReason', 'silence', 'no_speech', 'not_understood'))
    .description('Reason why the text is empty. `null` if the text is not empty'),
  passedOver: s
    .list(s.object('PassedOverEngine', { engine: s.text(200), because: s.anyText(2000) }), 20)
    .description('Engines that were skipped or failed, each with the reason'),
  costUsd: s
    .nullable(s.number(0, Number.MAX_SAFE_INTEGER))
    .description(
      'Cost in US dollars. `null` if the model has no price, and until the first part is transcribed',
    ),
  error: s.nullable(s.anyText(2000)).description('Error message. `null` without an error'),
  code: s
    .nullable(s.text(60))
    .description(
      'Error code: `damaged`, `too_long`, `too_large`, `too_slow`, `unsupported`, `no_engine` or `interrupted`. `null` without an error',
    ),
  operationId: s.id('operation'),
  createdAt: s.time(),
  finishedAt: s.nullable(s.time()).description('End time. `null` if not ended yet'),
};

export const TranscriptionView = s.object('Transcription', {
  ...transcription,
  excerpt: s
    .nullable(s.anyText(200))
    .description('Beginning of the text. `null` until the transcription has finished'),
});
export type TranscriptionView = s.Static<typeof TranscriptionView>;

export const TranscriptionDetail = s.object('TranscriptionDetail', {
  ...transcription,
  text: s
    .nullable(s.anyText(5_000_000))
    .description('Text transcribed so far. `null` until the first words are transcribed'),
  segments: s.list(
    s.object('TranscriptionSegment', {
      start: seconds().description(
        'Start of the segment, in seconds from the beginning of the audio',
      ),
      end: seconds().description('End of the segment, in seconds from the beginning of the audio'),
      text: s.anyText(100_000),
    }),
    200_000,
  ),
});
export type TranscriptionDetail = s.Static<typeof TranscriptionDetail>;

export const voice = contract({
  transcribe: endpoint.post('/api/voice/transcribe', {
    summary: 'Transcribe audio',
    query: s.object('TranscribeWait', {
      wait: s.optional(
        wait().description(
          'Maximum time to wait for the text, in seconds. Defaults to 60. If the ' +
            'transcription takes longer, the reply is 202',
        ),
      ),
    }),
    form: {
      files: 'audio',
      mostFiles: 1,
      fileBytes: AUDIO_BYTES,
      bytes: JSON_BYTES,
      jsonBytes: JSON_BYTES,
      fields: s.object('TranscribeFields', {
        format: s.optional(
          s
            .text(100)
            .description(
              'Audio format, for information only. The daemon detects the format from the content',
            ),
        ),
        language: s.optional(
          language().description(
            'Language of the speech, as a code such as `en`. Detected if absent',
          ),
        ),
        model: s.optional(
          s
            .text(200)
            .description(
              'Name of a registered model, `whisper`, slug of an installed whisper model, or `pocketsphinx`. No other engine is tried',
            ),
        ),
        prompt: s.optional(
          s.text(1000).description('Names and terms in the audio, as a hint for the model'),
        ),
      }),
    },
    reply: TranscriptionDetail,
    otherReplies: { 202: TranscriptionDetail },
  }),
  list: endpoint.get('/api/voice/transcriptions', {
    summary: 'List transcriptions',
    query: pageQuery('TranscriptionQuery', { status: s.optional(status()) }),
    reply: createPageSchema('transcriptions', TranscriptionView),
  }),
  get: endpoint.get('/api/voice/transcriptions/{id}', {
    summary: 'Get a transcription with its text',
    query: s.object('TranscriptionWait', {
      wait: s.optional(
        wait().description(
          'Maximum time to wait for the transcription to finish, in seconds. Defaults to 0',
        ),
      ),
    }),
    reply: TranscriptionDetail,
  }),
  cancel: endpoint.post('/api/voice/transcriptions/{id}/cancel', {
    summary: 'Cancel a transcription',
    reply: TranscriptionDetail,
  }),
  delete: endpoint.delete('/api/voice/transcriptions/{id}', {
    summary: 'Delete a transcription',
    description: 'A transcription that has not ended is cancelled first.',
  }),
});
