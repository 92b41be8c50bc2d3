import { createRequire } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';

/** The input of the thread that judges by a robots.txt. */
export interface RobotsTask {
  /** The scheme, host and port that the file is of. */
  origin: string;
  text: string;
  /** The address to judge. */
  url: string;
}

/** A parser of robots.txt. */
type RobotsParser = (
  url: string,
  text: string,
) => { isAllowed(url: string, name: string): boolean | undefined };

// Its own declaration is that of an ES module, which it is not.
const parse: RobotsParser = createRequire(import.meta.url)('robots-parser');

/** The name by which rules mean this daemon: that of its User-Agent. */
const NAME = 'adjutant';

/** The records of groups. The parser would end a group at any other. */
const OF_GROUPS = /^\s*(user-agent|allow|disallow)\s*:/i;

const grouped = (file: string): string =>
  file
    .split(/\r\n|\r|\n/)
    .filter((line) => OF_GROUPS.test(line))
    .join('\n');

/** Decodes the characters that need no code (RFC 3986, 2.3): they mean the same in both spellings. */
const decoded = (of: string): string =>
  of.replace(/%(2[DE]|3\d|4[1-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9AE])/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );

const { origin, text, url }: RobotsTask = workerData;
const robots = parse(`${origin}/robots.txt`, decoded(grouped(text)));
// Undefined for an address of another host, which this file does not speak of.
parentPort?.postMessage(robots.isAllowed(decoded(url), NAME) !== false);
