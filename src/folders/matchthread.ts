import { parentPort, workerData } from 'node:worker_threads';
import picomatch from 'picomatch';
import { normalForm } from '../kernel/normalform.js';

export interface MatchTask {
  patterns: string[];
  paths: string[];
}

/**
 * Returns the indexes of paths that match a pattern and no `!` pattern. Exclusions also match names
 * with a leading dot or a line break, which `*` does not match.
 */
const matchingIndexes = ({ patterns: rawPatterns, paths }: MatchTask): number[] => {
  const patterns = rawPatterns.map(normalForm);
  const wanted = patterns.filter((pattern) => !pattern.startsWith('!'));
  const ignore = patterns.flatMap((pattern) => (/^!./.test(pattern) ? [pattern.slice(1)] : []));
  const fits = picomatch(wanted.length > 0 ? wanted : ['**']);
  const isLeftOut = ignore.length > 0 ? picomatch(ignore, { dot: true }) : () => false;
  return paths.flatMap((path, place) => {
    const tested = normalForm(path).replace(/[\n\r\u2028\u2029]/g, ' ');
    return fits(tested) && !isLeftOut(tested) ? [place] : [];
  });
};

parentPort?.postMessage(matchingIndexes(workerData));
