import { parentPort, workerData } from 'node:worker_threads';
import picomatch from 'picomatch';

/** The input of the thread that matches paths with patterns. */
export interface MatchTask {
  patterns: string[];
  paths: string[];
}

/** Returns the places of the paths that fit one of the patterns, and none that begins with `!`. */
const fitting = ({ patterns, paths }: MatchTask): number[] => {
  const wanted = patterns.filter((pattern) => !pattern.startsWith('!'));
  const ignore = patterns.filter((pattern) => pattern.startsWith('!')).map((one) => one.slice(1));
  const fits = picomatch(wanted.length > 0 ? wanted : ['**'], { ignore });
  return paths.flatMap((path, place) => (fits(path) ? [place] : []));
};

parentPort?.postMessage(fitting(workerData));
