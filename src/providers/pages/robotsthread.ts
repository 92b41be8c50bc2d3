import { createRequire } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';

export interface RobotsTask {
  origin: string;
  text: string;
  url: string;
}

type RobotsParser = (
  url: string,
  text: string,
) => { isAllowed(url: string, name: string): boolean | undefined };

// Its type declaration wrongly declares an ES module.
const parse: RobotsParser = createRequire(import.meta.url)('robots-parser');

/** Name in the User-Agent. */
const NAME = 'adjutant';

/** Other records would end a group in the parser. */
const OF_GROUPS = /^\s*(user-agent|allow|disallow)\s*:/i;

const grouped = (file: string): string =>
  file
    .split(/\r\n|\r|\n/)
    .filter((line) => OF_GROUPS.test(line))
    .join('\n');

/** Decodes unreserved characters (RFC 3986, 2.3), which are equivalent in both forms. */
const decoded = (of: string): string =>
  of.replace(/%(2[DE]|3\d|4[1-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9AE])/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );

const { origin, text, url }: RobotsTask = workerData;
const robots = parse(`${origin}/robots.txt`, decoded(grouped(text)));
// Undefined for another host.
parentPort?.postMessage(robots.isAllowed(decoded(url), NAME) !== false);
