import type { TemplateStage } from './contract.js';

interface StageGraph {
  stages: ReadonlyMap<string, TemplateStage>;
  above(key: string): ReadonlySet<string>;
  /** Stages that have certainly completed when a stage starts. */
  completedBefore(key: string): ReadonlySet<string>;
}

/** Returns the keys of a cycle in order, or null. */
export const findCycle = (stages: TemplateStage[]): string[] | null => {
  const needs = new Map(stages.map(({ key, needs = [] }) => [key, needs]));
  const done = new Set<string>();
  const walk = (key: string, way: string[]): string[] | null => {
    const at = way.indexOf(key);
    if (at >= 0) return [...way.slice(at), key];
    if (done.has(key)) return null;
    for (const need of needs.get(key) ?? []) {
      const found = walk(need, [...way, key]);
      if (found) return found;
    }
    done.add(key);
    return null;
  };
  for (const key of needs.keys()) {
    const found = walk(key, []);
    if (found) return found;
  }
  return null;
};

/** The stages must not contain a cycle. */
export const buildStageGraph = (all: TemplateStage[]): StageGraph => {
  const stages = new Map(all.map((stage) => [stage.key, stage]));
  const needsOf = (key: string): string[] => stages.get(key)?.needs ?? [];
  const above = once((key): ReadonlySet<string> => {
    const needs = needsOf(key);
    return new Set(needs.flatMap((need) => [need, ...above(need)]));
  });

  // Whether a stage may be skipped without a failure.
  const maySkip = once((key): boolean => {
    const { when = [], runIf = 'success' } = stages.get(key) ?? {};
    if (runIf === 'failure' || when.length > 0) return true;
    const needs = needsOf(key);
    return runIf === 'success' && needs.length > 0 && needs.every(maySkip);
  });

  const completedBefore = once((key): ReadonlySet<string> => {
    const { runIf = 'success' } = stages.get(key) ?? {};
    const needs = needsOf(key);
    if (runIf !== 'success') return new Set();
    // A stage with one need is skipped with it. With several, it may still run.
    const unskipped = needs.length === 1 ? needs : needs.filter((need) => !maySkip(need));
    const completed = unskipped.filter((need) => stages.get(need)?.onError !== 'continue');
    return new Set([...completed, ...unskipped.flatMap((need) => [...completedBefore(need)])]);
  });

  return { stages, above, completedBefore };
};

const once = <T>(make: (key: string) => T): ((key: string) => T) => {
  const cache = new Map<string, T>();
  return (key) => {
    const value = cache.get(key) ?? make(key);
    cache.set(key, value);
    return value;
  };
};

export const formatMermaid = (stages: TemplateStage[]): string => {
  const ids = new Map(stages.map(({ key }, at) => [key, `s${at}`]));
  const id = (key: string): string => ids.get(key) ?? '';
  const nodes = stages.map(
    ({ key, name = key, kind }) => `  ${id(key)}["${label(name)} (${kind})"]`,
  );
  const needs = stages.flatMap(({ key, needs: of = [], runIf = 'success' }) =>
    of.map((need) => `  ${id(need)} -->${runIf === 'success' ? '' : `|${runIf}|`} ${id(key)}`),
  );
  const back = stages.flatMap(({ key, onError }) =>
    typeof onError === 'object' ? [`  ${id(key)} -.->|on error| ${id(onError.goto)}`] : [],
  );
  return `${['flowchart TD', ...nodes, ...needs, ...back].join('\n')}\n`;
};

/** Mermaid entity codes begin with `#`. */
const label = (text: string): string =>
  text.replace(/[#"<>&\p{Cc}]/gu, (sign) => `#${sign.codePointAt(0)};`);
