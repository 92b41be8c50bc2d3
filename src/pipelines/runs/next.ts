import type { TemplateStage } from '../templates/contract.js';

export interface StageState {
  status:
    | 'pending'
    | 'running'
    | 'waiting_approval'
    | 'waiting_input'
    | 'completed'
    | 'failed'
    | 'skipped'
    | 'stopped';
  /** Number of visits through `goto`, from 1. */
  visits: number;
  /** Visits before the last retry by a person, which `goto` does not count. */
  visitsBefore: number;
  /** Whether the stage was skipped because of an earlier failure. */
  blocked: boolean;
  error: string | null;
}

export type NextChange =
  | { is: 'begin'; key: string }
  | { is: 'skip'; key: string; reason: string; blocked: boolean }
  | { is: 'again'; keys: string[]; because: string }
  | { is: 'end'; status: 'completed' | 'failed'; error: string | null };

/** Returns why the conditions do not hold, null if they hold, or undefined to ask again later. */
export type JudgeStage = (stage: TemplateStage) => string | null | undefined;

const DEFAULT_VISITS = 3;

/**
 * Computes which stages start, are skipped or are repeated, and whether the run has ended. It has
 * no side effects.
 */
export const nextChanges = (
  stages: TemplateStage[],
  states: ReadonlyMap<string, StageState>,
  judge: JudgeStage,
): NextChange[] => {
  const stateOf = (key: string): StageState => states.get(key) ?? MISSING;
  const skipped = new Map<string, { blocked: boolean }>();
  const changes: NextChange[] = [];

  for (const stage of stages) {
    const repeated = repeatAfter(stages, stage, stateOf);
    if (repeated) return repeated;
  }
  const needOf = (key: string): NeedOutcome => {
    const skip = skipped.get(key);
    if (skip) return skip.blocked ? 'failed' : 'skipped';
    const stage = stages.find((each) => each.key === key);
    return stage
      ? getNeedOutcome(stage, stateOf(key), goesBack(stage, stateOf(stage.key)))
      : 'open';
  };
  for (const stage of inOrder(stages)) {
    if (stateOf(stage.key).status !== 'pending') continue;
    const needs = (stage.needs ?? []).map(needOf);
    if (needs.includes('open')) continue;
    const because = skipBecause(stage, needs);
    const judged = because ? null : judge(stage);
    if (judged === undefined) continue;
    const skip = because ?? unlessHolding(judged);
    if (skip) skipped.set(stage.key, skip);
    changes.push(skip ? { is: 'skip', key: stage.key, ...skip } : { is: 'begin', key: stage.key });
  }
  const isOver = stages.every(({ key }) => skipped.has(key) || ENDED.has(stateOf(key).status));
  return isOver ? [...changes, computeRunEnd(stages, stateOf)] : changes;
};

/**
 * `excused`: the stage failed and the run continues. `refused`: it was not approved, and the run
 * continues without the stages that need it.
 */
type NeedOutcome = 'open' | 'completed' | 'excused' | 'refused' | 'failed' | 'skipped';

const ENDED = new Set<StageState['status']>(['completed', 'failed', 'skipped', 'stopped']);
const AT_WORK = new Set<StageState['status']>(['running', 'waiting_approval', 'waiting_input']);
const MISSING: StageState = {
  status: 'pending',
  visits: 1,
  visitsBefore: 0,
  blocked: false,
  error: null,
};

const getNeedOutcome = (
  { kind, onError }: TemplateStage,
  { status, blocked }: StageState,
  comesAgain: boolean,
): NeedOutcome => {
  if (status === 'completed') return 'completed';
  if (status === 'skipped') return blocked ? 'failed' : 'skipped';
  if (status === 'failed' && comesAgain) return 'open';
  if (status === 'failed' && onError === 'continue') {
    return kind === 'approval' ? 'refused' : 'excused';
  }
  if (status === 'failed') return 'failed';
  return status === 'stopped' ? 'failed' : 'open';
};

const FAILURES = new Set<NeedOutcome>(['failed', 'excused', 'refused']);

type Skip = { reason: string; blocked: boolean };

const skipBecause = (
  { needs = [], runIf = 'success' }: TemplateStage,
  outcomes: NeedOutcome[],
): Skip | null => {
  if (needs.length === 0 || runIf === 'always') return null;
  const named = (of: NeedOutcome): string => needs[outcomes.indexOf(of)] ?? '';
  if (runIf === 'failure') {
    const isFailure = outcomes.some((outcome) => FAILURES.has(outcome));
    return isFailure ? null : { reason: 'no needed stage failed', blocked: false };
  }
  if (outcomes.includes('failed')) {
    return { reason: `${named('failed')} did not complete`, blocked: true };
  }
  if (outcomes.includes('refused')) {
    return { reason: `${named('refused')} was not approved`, blocked: false };
  }
  const isSkipped = outcomes.every((outcome) => outcome === 'skipped');
  return isSkipped ? { reason: `${named('skipped')} was skipped`, blocked: false } : null;
};

const unlessHolding = (reason: string | null): Skip | null =>
  reason === null ? null : { reason, blocked: false };

const goesBack = (
  { onError, maxVisits = DEFAULT_VISITS }: TemplateStage,
  { status, visits, visitsBefore }: StageState,
): boolean =>
  typeof onError === 'object' && status === 'failed' && visits - visitsBefore < maxVisits;

/** Waits until no affected stage is active. */
const repeatAfter = (
  stages: TemplateStage[],
  stage: TemplateStage,
  stateOf: (key: string) => StageState,
): NextChange[] | null => {
  if (typeof stage.onError !== 'object' || !goesBack(stage, stateOf(stage.key))) return null;
  const keys = stageWithDependents(stages, stage.onError.goto);
  if (keys.some((key) => AT_WORK.has(stateOf(key).status))) return null;
  return [{ is: 'again', keys, because: `${stage.key} failed: ${stateOf(stage.key).error ?? ''}` }];
};

/** In the order of the template. */
export const stageWithDependents = (stages: TemplateStage[], from: string): string[] => {
  const below = new Set([from]);
  for (const { key, needs = [] } of inOrder(stages)) {
    if (needs.some((need) => below.has(need))) below.add(key);
  }
  return stages.flatMap(({ key }) => (below.has(key) ? [key] : []));
};

/** Topological order. */
const inOrder = (stages: TemplateStage[]): TemplateStage[] => {
  const byKey = new Map(stages.map((stage) => [stage.key, stage]));
  const sorted = new Set<TemplateStage>();
  const add = (stage: TemplateStage): void => {
    if (sorted.has(stage)) return;
    for (const need of stage.needs ?? []) {
      const needed = byKey.get(need);
      if (needed) add(needed);
    }
    sorted.add(stage);
  };
  for (const stage of stages) add(stage);
  return [...sorted];
};

const computeRunEnd = (
  stages: TemplateStage[],
  stateOf: (key: string) => StageState,
): NextChange => {
  const failed = stages.find(
    ({ key, onError }) => stateOf(key).status === 'failed' && onError !== 'continue',
  );
  if (!failed) return { is: 'end', status: 'completed', error: null };
  const { error } = stateOf(failed.key);
  return { is: 'end', status: 'failed', error: `${failed.key}: ${error ?? 'failed'}` };
};
