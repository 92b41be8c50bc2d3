import type { Readable } from 'node:stream';
import Boom from '@hapi/boom';
import { type Clock, iso } from '../kernel/clock.js';
import { isDiskFull } from '../kernel/failure.js';
import { mint } from '../kernel/ids.js';
import { faultsMessage, type ProblemData } from '../kernel/problem.js';
import { badRequest } from '../kernel/route.js';
import type { OperationBeginner } from '../operations/module.js';
import type { TranscriptionRow } from '../store/tables/voice.js';
import type { ArrivedAudio, AudioFiles } from './audio.js';
import { AUDIO_BYTES } from './contract.js';
import { type AudioKind, detectAudioKind, FORMATS } from './decode/kinds.js';
import {
  addEngineText,
  type ChooseEngines,
  type EnginePreferences,
  listReasons,
  type SkippedEngine,
} from './engines/choice.js';
import type { TranscribeInput } from './operation.js';
import type { VoiceStore } from './queries.js';

interface NewAudio {
  /** Empty: none. */
  filename: string;
  content: Readable;
  /** True at the end of the content if data is missing. */
  isCut(): boolean;
}

interface ReceiveDeps {
  clock: Clock;
  audio: AudioFiles;
  /** null if not installed. */
  ffmpeg(): Promise<string | null>;
}

export interface NewAudioDeps extends ReceiveDeps {
  rows: VoiceStore;
  choose: ChooseEngines;
  begins: OperationBeginner<TranscribeInput>;
}

const FIELD = 'audio';

interface StoredAudio extends ArrivedAudio {
  id: string;
  filename: string | null;
  kind: AudioKind;
}

/**
 * Throws 413 if too large, 415 for an unsupported format, 400 if empty, 507 if the disk is full.
 */
export const receiveAudio = async (
  { clock, audio, ffmpeg }: ReceiveDeps,
  { filename, content, isCut }: NewAudio,
): Promise<StoredAudio> => {
  const id = mint('transcription', clock.now());
  try {
    const arrived = await audio.receive(id, content);
    if (isCut() || arrived.bytes > AUDIO_BYTES) throw Boom.entityTooLarge(...problem(TOO_LARGE));
    if (arrived.bytes === 0) throw badRequest([{ path: FIELD, message: 'is empty' }]);
    const kind = await detectAudioKind(arrived.head);
    if (kind === null) throw unread(unsupported(await ffmpeg()));
    if (kind.decoder === null && (await ffmpeg()) === null) {
      throw unread(
        `is ${kind.mediaType}, which requires ffmpeg on the machine of the daemon. Install ffmpeg there, or convert the file. Supported without ffmpeg: ${FORMATS.builtIn}`,
      );
    }
    return { ...arrived, id, filename: lastPart(filename), kind };
  } catch (error) {
    await audio.remove(id);
    throw isDiskFull(error) ? diskFull() : error;
  }
};

const unsupported = (ffmpeg: string | null): string => {
  const others =
    ffmpeg === null ? 'If ffmpeg is installed on the machine of the daemon, also' : 'Also';
  return `is not a supported audio format. Supported: ${FORMATS.builtIn}. ${others}: ${FORMATS.ffmpeg}`;
};

const TOO_LARGE = `is larger than ${AUDIO_BYTES / 1024 ** 2} MiB`;

const problem = (message: string): [string, ProblemData] => {
  const details = [{ path: FIELD, message }];
  return [faultsMessage(details), { details }];
};

const unread = (message: string): Boom.Boom => Boom.unsupportedMediaType(...problem(message));

const diskFull = (): Boom.Boom =>
  new Boom.Boom('The disk of the daemon is full. The audio was not stored', {
    statusCode: 507,
    data: { code: 'disk_full' },
  });

const lastPart = (name: string): string | null =>
  (name.split(/[/\\]/).at(-1) ?? '').replace(/\p{C}/gu, '').trim().slice(-255) || null;

interface TranscriptionOptions extends EnginePreferences {
  prompt: string | null;
}

/** Throws 503 `no_engine`, or 409 at the limit; the audio is then deleted. */
export const beginTranscription = async (
  { clock, rows, audio, choose, begins }: NewAudioDeps,
  userId: string,
  { kept, wish }: { kept: StoredAudio; wish: TranscriptionOptions },
): Promise<{ id: string; operationId: string }> => {
  const { id, filename, kind } = kept;
  try {
    const { engines, passedOver, names } = await choose(wish);
    if (engines.length === 0) throw noEngine(passedOver, names);
    const row: Omit<TranscriptionRow, 'operation_id'> = {
      ...NOT_TRANSCRIBED,
      id,
      user_id: userId,
      filename,
      media_type: kind.mediaType,
      bytes: kept.bytes,
      asked_language: wish.language,
      asked_model: wish.model,
      prompt: wish.prompt,
      created_at: iso(clock.now()),
    };
    const operation = await begins.begin(
      {
        userId,
        resource: { kind: 'transcription', id },
        title: `Transcription of ${filename ?? 'audio'}`.slice(0, 200),
        input: { transcriptionId: id, kind },
        progress: { total: null, unit: 'seconds' },
      },
      ({ id: operation_id }) => [rows.insert({ ...row, operation_id })],
    );
    return { id, operationId: operation.id };
  } catch (error) {
    await audio.remove(id);
    throw error;
  }
};

const NOT_TRANSCRIBED = {
  status: 'queued' as const,
  duration_seconds: null,
  engine: null,
  model: null,
  language: null,
  text: null,
  reason: null,
  passed_over: '[]',
  cost_usd: null,
  error: null,
  code: null,
  finished_at: null,
};

/** An admin has to act first. */
const RETRY_AFTER_S = 3600;

const noEngine = (passedOver: SkippedEngine[], names: string[] = []): Boom.Boom => {
  if (passedOver.length === 0) {
    const message = `must be one of ${names.join(', ')}`;
    const path = 'model';
    return badRequest([{ path, message }]);
  }
  const message = `No speech engine is available (${listReasons(passedOver)}). ${addEngineText()}`;
  return Boom.serverUnavailable(message, {
    code: 'no_engine',
    retryAfter: RETRY_AFTER_S,
  });
};
