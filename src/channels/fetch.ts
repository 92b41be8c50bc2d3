import type { Readable } from 'node:stream';
import { type DocumentIntake, FILE_BYTES, type IntakeResult } from '../documents/module.js';
import type { Clock } from '../kernel/clock.js';
import { HttpFailure } from '../kernel/failure.js';
import type { Http } from '../kernel/http.js';
import { openPlatformFile } from '../providers/chat/file.js';
import type { PlatformFile } from '../providers/chat/platform.js';
import { platforms } from '../providers/chat/platforms.js';
import type { ChannelKind } from '../store/tables/channels.js';
import type { VoiceMessages } from '../voice/module.js';
import type { PlatformSettingsCache } from './settings.js';

export interface FetchDeps {
  clock: Clock;
  http: Http;
  settings: Pick<PlatformSettingsCache, 'of'>;
  arrivals: Pick<DocumentIntake, 'keep'>;
  voice: Pick<VoiceMessages, 'begin'>;
}

interface SpokenFile {
  name: string;
  transcriptionId: string;
}

export type FetchedFile = IntakeResult | SpokenFile;

interface FileFetch {
  userId: string;
  kind: ChannelKind;
  file: PlatformFile;
  signal: AbortSignal;
}

type Fetched =
  | { verdict: 'ended'; file: FetchedFile }
  | { verdict: 'retry'; refused: IntakeResult; afterMs?: number };

const TOO_LARGE = `is larger than ${FILE_BYTES / 1024 ** 2} MiB`;
const UNNAMED = 'A file';

/** Throws if the signal is aborted. */
export const fetchFile = async (deps: FetchDeps, fetch: FileFetch): Promise<Fetched> => {
  const { kind, file, signal } = fetch;
  const platform = platforms.find((one) => one.kind === kind);
  const settings = platform && deps.settings.of(platform.kind);
  if (!platform?.files || !settings) return ended(file, unreached(`${kind} is not configured`));
  const reach = { clock: deps.clock, http: deps.http, settings, receiver: '', signal };
  const opened = await openPlatformFile(platform.files, reach, { file, maxBytes: FILE_BYTES });
  if (opened.verdict === 'too_large') return ended(file, TOO_LARGE);
  if (opened.verdict === 'failed') return ended(file, unreached(opened.error));
  if (opened.verdict !== 'opened') {
    const { afterMs } = { afterMs: undefined, ...opened };
    return { ...again(file, opened.error), ...(afterMs !== undefined && { afterMs }) };
  }
  const { name: filename, isVoice, content } = opened;
  const store = isVoice || AUDIO.test(filename) ? transcribeFile : storeFile;
  try {
    return { verdict: 'ended', file: await store(deps, fetch, { filename, content }) };
  } catch (error) {
    if (!(error instanceof HttpFailure) || signal.aborted) throw error;
    return error.kind === 'too_large' ? ended(file, TOO_LARGE) : again(file, error.message);
  } finally {
    content.destroy();
  }
};

const AUDIO = /\.(aac|amr|caf|flac|m4a|mp3|oga|ogg|opus|wav|wma)$/i;

interface ReceivedFile {
  filename: string;
  content: Readable;
}

const storeFile = (
  { arrivals }: FetchDeps,
  { userId }: FileFetch,
  received: ReceivedFile,
): Promise<FetchedFile> => arrivals.keep(userId, received);

const transcribeFile = async (
  { voice }: FetchDeps,
  { userId, file }: FileFetch,
  received: ReceivedFile,
): Promise<FetchedFile> => {
  const { filename } = received;
  const name = file.isVoice ? (file.name ?? filename) : filename;
  const started = await voice.begin(userId, { ...received, filename: name });
  return 'id' in started
    ? { name, transcriptionId: started.id }
    : { name, reason: `cannot be transcribed: ${started.reason}` };
};

const unreached = (error: string): string => `could not be fetched: ${error}`;

const refused = ({ name }: PlatformFile, reason: string): IntakeResult => ({
  name: name ?? UNNAMED,
  reason,
});

const ended = (file: PlatformFile, reason: string): Fetched => ({
  verdict: 'ended',
  file: refused(file, reason),
});

const again = (file: PlatformFile, error: string): Fetched => ({
  verdict: 'retry',
  refused: refused(file, unreached(error)),
});
