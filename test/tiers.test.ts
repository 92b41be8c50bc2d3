import * as Lab from '@hapi/lab';
import ts from 'typescript';
import { found, none, type Source, sources } from './harness/sources.js';

export const lab = Lab.script();
const { describe, it } = lab;

/** Measures of speed and memory, and what waits for a time to pass. */
const MEASURES =
  /^(performance|cpuUsage|threadCpuUsage|memoryUsage|resourceUsage|setTimeout|watchLoop|measureInTurn|expectLinear)$/;
/** Helpers that may wait, and programs that print figures, which no test judges. */
const OUTSIDE = /^test\/(harness|bench)\//;

describe('npm test', { timeout: 120_000 }, () => {
  it('judges nothing by speed or memory, and sleeps nowhere', () => {
    none(found(fastTier(), isMeasure));
  });
});

/** The tests of each change, with the helpers that they import. */
const fastTier = (): Source[] => {
  const byPath = new Map(sources().map((source) => [source.path, source]));
  const isFast = (path: string) =>
    /^test\/.*(?<!\.(long|speed))\.test\.tsx?$/.test(path) && !OUTSIDE.test(path);
  const reached = new Set([...byPath.keys()].filter(isFast));
  for (const path of reached) {
    for (const { to } of byPath.get(path)?.imports ?? []) {
      if (to?.startsWith('test/') && !OUTSIDE.test(to)) reached.add(to);
    }
  }
  return [...reached].flatMap((path) => byPath.get(path) ?? []);
};

const isMeasure = (node: ts.Node): boolean => ts.isIdentifier(node) && MEASURES.test(node.text);
