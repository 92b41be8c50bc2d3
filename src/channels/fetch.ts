import { type Arrivals, type DocumentOfFile, FILE_BYTES } from '../documents/module.js';
import { HttpFailure } from '../kernel/failure.js';
import type { Http } from '../kernel/http.js';
import { openPlatformFile, type PlatformFile } from '../providers/chat/file.js';
import { platforms } from '../providers/chat/platforms.js';
import type { ChannelKind } from '../store/tables/channels.js';
import type { PlatformSettingsCache } from './settings.js';

export interface FetchDeps {
  http: Http;
  settings: Pick<PlatformSettingsCache, 'of'>;
  arrivals: Pick<Arrivals, 'keep'>;
}

interface FileFetch {
  userId: string;
  kind: ChannelKind;
  file: PlatformFile;
  signal: AbortSignal;
}

/** The result of one attempt: the file is kept or refused, or may be asked for again. */
type Fetched =
  | { verdict: 'ended'; file: DocumentOfFile }
  | { verdict: 'retry'; refused: DocumentOfFile; afterMs?: number };

const TOO_LARGE = `is larger than ${FILE_BYTES / 1024 ** 2} MiB`;
const UNNAMED = 'A file';

/** Fetches a file of a message and keeps it as a document. Throws if the signal is aborted. */
export const fetchFile = async (deps: FetchDeps, fetch: FileFetch): Promise<Fetched> => {
  const { userId, kind, file, signal } = fetch;
  const platform = platforms.find((one) => one.kind === kind);
  const settings = platform && deps.settings.of(platform.kind);
  if (!platform?.files || !settings) return ended(file, unreached(`${kind} is not set up`));
  const reach = { http: deps.http, settings, receiver: '', signal };
  const opened = await openPlatformFile(platform.files, reach, { file, maxBytes: FILE_BYTES });
  if (opened.verdict === 'too_large') return ended(file, TOO_LARGE);
  if (opened.verdict === 'failed') return ended(file, unreached(opened.error));
  if (opened.verdict !== 'opened') {
    const { afterMs } = { afterMs: undefined, ...opened };
    return { ...again(file, opened.error), ...(afterMs !== undefined && { afterMs }) };
  }
  const { name: filename, content } = opened;
  try {
    return { verdict: 'ended', file: await deps.arrivals.keep(userId, { filename, content }) };
  } catch (error) {
    if (!(error instanceof HttpFailure) || signal.aborted) throw error;
    return error.kind === 'too_large' ? ended(file, TOO_LARGE) : again(file, error.message);
  } finally {
    content.destroy();
  }
};

const unreached = (error: string): string => `could not be fetched: ${error}`;

const refused = ({ name }: PlatformFile, reason: string): DocumentOfFile => ({
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
