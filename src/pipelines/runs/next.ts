import type { TemplateStage } from '../templates/contract.js';

/** The state of one stage of a run. */
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
  /** The number of times that the run came to it, from 1: `goto` leads to it again. */
  visits: number;
  /** The visits that `goto` does not count: those before a person has retried the run. */
  visitsBefore: number;
  /** True if it was skipped because of a failure before it. */
  blocked: boolean;
  error: string | null;
}

/** A change that follows from the states of all stages. */
export type NextChange =
  | { is: 'begin'; key: string }
  | { is: 'skip'; key: string; reason: string; blocked: boolean }
  /** The stages that begin anew, because of one that failed. */
  | { is: 'again'; keys: string[]; because: string }
  | { is: 'end'; status: 'completed' | 'failed'; error: string | null };

/** Returns why the conditions of a stage do not hold; null if they do, undefined to ask again later. */
export type JudgeStage = (stage: TemplateStage) => string | null | undefined;

/** The number of visits that a run may make to a stage unless its template says otherwise. */
const DEFAULT_VISITS = 3;

/**
 * Returns what follows from the states of the stages of a run: which begin, which are skipped and
 * why, which begin anew, and whether the run has ended. It changes nothing.
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
    const again = againAfter(stages, stage, stateOf);
    if (again) return again;
  }
  const needOf = (key: string): NeedOutcome => {
    const skip = skipped.get(key);
    if (skip) return skip.blocked ? 'failed' : 'skipped';
    const stage = stages.find((each) => each.key === key);
    return stage ? outcomeOf(stage, stateOf(key), goesBack(stage, stateOf(stage.key))) : 'open';
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
  return isOver ? [...changes, endOf(stages, stateOf)] : changes;
};

/**
 * The outcome of a need, for the stages that need it. `excused`: it failed and the run goes on;
 * `refused`: nobody approved it, and the run goes on without the stages that need that.
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

const outcomeOf = (
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

/** True if a stage has failed and leads back to one that it needs, or to itself. */
const goesBack = (
  { onError, maxVisits = DEFAULT_VISITS }: TemplateStage,
  { status, visits, visitsBefore }: StageState,
): boolean =>
  typeof onError === 'object' && status === 'failed' && visits - visitsBefore < maxVisits;

/** Returns the stages that begin anew because of a failure, once nothing of them is at work. */
const againAfter = (
  stages: TemplateStage[],
  stage: TemplateStage,
  stateOf: (key: string) => StageState,
): NextChange[] | null => {
  if (typeof stage.onError !== 'object' || !goesBack(stage, stateOf(stage.key))) return null;
  const keys = withBelow(stages, stage.onError.goto);
  if (keys.some((key) => AT_WORK.has(stateOf(key).status))) return null;
  return [{ is: 'again', keys, because: `${stage.key} failed: ${stateOf(stage.key).error ?? ''}` }];
};

/** Returns a stage and all that need it, directly or through others, in the order of the template. */
export const withBelow = (stages: TemplateStage[], from: string): string[] => {
  const below = new Set([from]);
  for (const { key, needs = [] } of inOrder(stages)) {
    if (needs.some((need) => below.has(need))) below.add(key);
  }
  return stages.flatMap(({ key }) => (below.has(key) ? [key] : []));
};

/** Sorts stages so that each comes after those that it needs. */
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

const endOf = (stages: TemplateStage[], stateOf: (key: string) => StageState): NextChange => {
  const failed = stages.find(
    ({ key, onError }) => stateOf(key).status === 'failed' && onError !== 'continue',
  );
  if (!failed) return { is: 'end', status: 'completed', error: null };
  const { error } = stateOf(failed.key);
  return { is: 'end', status: 'failed', error: `${failed.key}: ${error ?? 'failed'}` };
};
