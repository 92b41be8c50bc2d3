import { Readable } from 'node:stream';
import { BadUrl, EgressRefused } from '../../kernel/egress.js';
import { HttpFailure } from '../../kernel/failure.js';
import type { PlatformReach, PlatformRefusal } from './platform.js';

/** A file of a message, as its platform announced it. */
export interface PlatformFile {
  /** The name that its sender gave it; null if the platform tells it later, or it has none. */
  name: string | null;
  /** The size in bytes, as announced; null if it is not known. */
  bytes: number | null;
  /** True if it is a voice message, whatever its name. */
  isVoice?: true;
  /** The adapter's data by which the file is found. It holds no secret. */
  ref: string;
}

/** The place from which a file is fetched, with the headers that the platform wants. */
export interface FilePlace {
  verdict: 'found';
  url: string;
  headers?: Record<string, string>;
  /** The name of the file; null if it is not known. */
  name: string | null;
  /** The size in bytes, as announced, if the platform tells it here. */
  bytes?: unknown;
}

/** The way in which an adapter fetches the files of messages. */
export interface PlatformFiles {
  /** The hosts to which its secrets may go by HTTPS, beside the origin of the base URL. */
  hosts: readonly string[];
  /** Finds the place of a file. Failures are verdicts. */
  find(reach: PlatformReach, file: PlatformFile): Promise<FilePlace | PlatformRefusal>;
}

/** A file that is being received. Its content fails with an HttpFailure. */
interface OpenFile {
  verdict: 'opened';
  name: string;
  content: Readable;
}

/** Ours: the limits of one download, in milliseconds. */
const LIMITS = { firstByteMs: 15_000, silenceMs: 30_000, totalMs: 600_000, redirects: 0 };
const UNNAMED = 'file';

/**
 * Begins to receive a file. The content fails as `too_large` after `maxBytes`, whatever size was
 * announced. No redirect is followed, and no host but those of the platform is asked. Failures are
 * verdicts; throws only if the signal is aborted.
 */
export const openPlatformFile = async (
  { hosts, find }: PlatformFiles,
  reach: PlatformReach,
  { file, maxBytes }: { file: PlatformFile; maxBytes: number },
): Promise<OpenFile | PlatformRefusal | { verdict: 'too_large' }> => {
  const { signal } = reach;
  const isTooLarge = (bytes: unknown) => typeof bytes === 'number' && bytes > maxBytes;
  if (isTooLarge(file.bytes)) return { verdict: 'too_large' };
  const place = await find(reach, file);
  if (place.verdict !== 'found') return place;
  if (isTooLarge(place.bytes)) return { verdict: 'too_large' };
  const { url, headers = {} } = place;
  if (!isOfPlatform(url, reach, hosts)) return failed('its URL does not belong to the platform');
  try {
    const get = reach.http.fetchFor(new URL(url).origin, { ...LIMITS, maxBytes });
    const { status, body } = await get(url, { headers, signal });
    const content = contentOf(body);
    if (status === 200) return { verdict: 'opened', name: place.name ?? UNNAMED, content };
    content.destroy();
    return refusalOf(status);
  } catch (error) {
    if (error instanceof EgressRefused || error instanceof BadUrl) return failed(error.message);
    if (!(error instanceof HttpFailure) || signal.aborted) throw error;
    return { verdict: 'retry', error: error.message };
  }
};

/** True if a secret of the platform may go to that address. */
const isOfPlatform = (
  url: string,
  { settings }: PlatformReach,
  hosts: readonly string[],
): boolean => {
  if (!URL.canParse(url)) return false;
  const { origin, protocol, host } = new URL(url);
  return (
    origin === new URL(settings.baseUrl).origin || (protocol === 'https:' && hosts.includes(host))
  );
};

const contentOf = (body: Response['body']): Readable => {
  const content = Readable.from(body ?? []);
  // Nobody may be reading any more when the connection breaks off.
  return content.on('error', () => undefined);
};

const failed = (error: string): PlatformRefusal => ({ verdict: 'failed', error });

/** Slack redirects an app that may not read files to the page of its login. */
const LED_ELSEWHERE =
  'the platform redirected the download. The app may lack the permission to read files; see its setup steps';

/** Returns the verdict on a status that is none of a file. */
const refusalOf = (status: number): PlatformRefusal => {
  if (status >= 300 && status < 400) return { verdict: 'failed', error: LED_ELSEWHERE, status };
  const error = `${status} from the platform`;
  const isPassing = status === 408 || status === 429 || status >= 500;
  return { verdict: isPassing ? 'retry' : 'failed', error, status };
};
