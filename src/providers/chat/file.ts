import { Readable } from 'node:stream';
import { BadUrl, EgressRefused } from '../../kernel/egress.js';
import { HttpFailure } from '../../kernel/failure.js';
import type { PlatformFile, PlatformFiles, PlatformReach, PlatformRefusal } from './platform.js';

/** Its content fails with an HttpFailure. */
interface OpenFile {
  verdict: 'opened';
  name: string;
  isVoice: boolean;
  content: Readable;
}

const LIMITS = { firstByteMs: 15_000, silenceMs: 30_000, totalMs: 600_000, redirects: 0 };
const UNNAMED = 'file';

/**
 * The content fails as `too_large` after `maxBytes`. Redirects and other hosts are rejected.
 * Failures are verdicts; throws only if the signal is aborted.
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
    const content = toReadable(body);
    const isVoice = file.isVoice === true || place.isVoice === true;
    if (status === 200) return { verdict: 'opened', name: place.name ?? UNNAMED, isVoice, content };
    content.destroy();
    return toPlatformRefusal(status);
  } catch (error) {
    if (error instanceof EgressRefused || error instanceof BadUrl) return failed(error.message);
    if (!(error instanceof HttpFailure) || signal.aborted) throw error;
    return { verdict: 'retry', error: error.message };
  }
};

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

const toReadable = (body: Response['body']): Readable => {
  const content = Readable.from(body ?? []);
  // No reader may be left when the connection breaks.
  return content.on('error', () => undefined);
};

const failed = (error: string): PlatformRefusal => ({ verdict: 'failed', error });

/** Slack redirects an app without file permission to its login page. */
const REDIRECTED =
  'the platform redirected the download. The app may lack the permission to read files; see its setup steps';

const toPlatformRefusal = (status: number): PlatformRefusal => {
  if (status >= 300 && status < 400) return { verdict: 'failed', error: REDIRECTED, status };
  const error = `${status} from the platform`;
  const isPassing = status === 408 || status === 429 || status >= 500;
  return { verdict: isPassing ? 'retry' : 'failed', error, status };
};
