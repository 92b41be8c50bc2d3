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

const { origin, text, url }: RobotsTask = workerData;
const robots = parse(`${origin}/robots.txt`, text);
// Undefined for an address of another host, which this file does not speak of.
parentPort?.postMessage(robots.isAllowed(url, NAME) !== false);
