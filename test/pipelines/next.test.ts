import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  type NextChange,
  nextChanges,
  type StageState,
  stageWithDependents,
} from '../../src/pipelines/runs/next.js';
import type { TemplateStage } from '../../src/pipelines/templates/contract.js';

export const lab = Lab.script();
const { describe, it } = lab;

const stage = (key: string, more: Partial<TemplateStage> = {}): TemplateStage => ({
  key,
  kind: 'wait',
  config: { seconds: 0 },
  ...more,
});
const holding = () => null;

/** States by key, as `a: completed`. */
const statesOf = (given: Record<string, StageState['status']>, visits = 1) =>
  new Map(
    Object.entries(given).map(([key, status]) => [
      key,
      {
        status,
        visits,
        visitsBefore: 0,
        blocked: false,
        error: status === 'failed' ? 'no luck' : null,
      },
    ]),
  );

/** The changes as short words: `begin a`. */
const told = (stages: TemplateStage[], states: ReadonlyMap<string, StageState>, judge = holding) =>
  nextChanges(stages, states, judge).map((change) => {
    if (change.is === 'begin') return `begin ${change.key}`;
    if (change.is === 'skip')
      return `skip ${change.key}: ${change.reason}${change.blocked ? ' !' : ''}`;
    if (change.is === 'again') return `again ${change.keys} ${change.because}`;
    return `end ${change.status} ${change.error ?? ''}`.trim();
  });

describe('what follows in a run', () => {
  const chain = [stage('a'), stage('b', { needs: ['a'] }), stage('c', { needs: ['b'] })];

  it('begins a stage when those that it needs have completed', () => {
    const stages = [stage('c', { needs: ['a', 'b'] }), stage('a'), stage('b')];
    expect(told(stages, new Map())).to.equal(['begin a', 'begin b']);
    expect(told(stages, statesOf({ a: 'completed', b: 'running' }))).to.equal([]);
    expect(told(stages, statesOf({ a: 'completed', b: 'waiting_approval' }))).to.equal([]);
    expect(told(stages, statesOf({ a: 'completed', b: 'completed' }))).to.equal(['begin c']);
  });

  it('skips what a failure has blocked, and ends with its error', () => {
    expect(told(chain, statesOf({ a: 'failed' }))).to.equal([
      'skip b: a did not complete !',
      'skip c: b did not complete !',
      'end failed a: no luck',
    ]);
    expect(told(chain, statesOf({ a: 'completed', b: 'completed', c: 'completed' }))).to.equal([
      'end completed',
    ]);
  });

  it('goes on after an excused failure, and runs what is for failures', () => {
    const stages = [
      stage('a', { onError: 'continue' }),
      stage('on', { needs: ['a'] }),
      stage('sorry', { needs: ['a'], runIf: 'failure' }),
      stage('tidy', { needs: ['sorry'], runIf: 'always' }),
    ];
    const states = { a: 'failed', on: 'completed', sorry: 'completed', tidy: 'completed' } as const;
    expect(told(stages, statesOf({ a: 'failed' }))).to.equal(['begin on', 'begin sorry']);
    expect(told(stages, statesOf({ a: 'completed' }))).to.equal([
      'begin on',
      'skip sorry: no needed stage failed',
      'begin tidy',
    ]);
    expect(told(stages, statesOf(states))).to.equal(['end completed']);
    const strict = [stage('a'), ...chain.slice(1), stage('z', { needs: ['c'], runIf: 'failure' })];
    expect(told(strict, statesOf({ a: 'failed' })).at(-1)).to.equal('begin z');
  });

  it('skips by conditions, and then what needs nothing else', () => {
    const stages = [
      stage('a'),
      stage('b', { needs: ['a'] }),
      stage('only', { needs: ['b'] }),
      stage('both', { needs: ['a', 'b'] }),
    ];
    const judge = ({ key }: TemplateStage) => (key === 'b' ? 'condition 1: x is missing' : null);
    expect(told(stages, statesOf({ a: 'completed' }), judge as typeof holding)).to.equal([
      'skip b: condition 1: x is missing',
      'skip only: b was skipped',
      'begin both',
    ]);
  });

  it('goes back as often as it may, once nothing below is at work', () => {
    const stages = [
      stage('a'),
      stage('b', { needs: ['a'], onError: { goto: 'a' } }),
      stage('c', { needs: ['a'] }),
      stage('d'),
    ];
    const failed = { a: 'completed', b: 'failed', d: 'running' } as const;
    expect(told(stages, statesOf({ ...failed, c: 'running' }))).to.equal([]);
    expect(told(stages, statesOf({ ...failed, c: 'completed' }, 2))).to.equal([
      'again a,b,c b failed: no luck',
    ]);
    expect(told(stages, statesOf({ ...failed, c: 'completed', d: 'completed' }, 3))).to.equal([
      'end failed b: no luck',
    ]);
    expect(stageWithDependents(chain, 'b')).to.equal(['b', 'c']);
  });
});

const fail = (why: string): never => {
  throw new Error(why);
};

/** A generator of numbers below `n` that gives the same ones each time (xorshift32). */
const chanceOf = (seed: number) => {
  let state = seed;
  return (n: number): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % n;
  };
};

/** A graph of 30 stages, each of which needs up to three before it. */
const graphOf = (chance: (n: number) => number): TemplateStage[] =>
  Array.from({ length: 30 }, (_, at) => {
    const before = Array.from({ length: at }, (_, index) => `s${index}`);
    const needs = [
      ...new Set(Array.from({ length: chance(4) }, () => before[chance(at || 1)] ?? '')),
    ];
    const real = needs.filter(Boolean);
    const rules = ['success', 'success', 'success', 'failure', 'always'] as const;
    const goto = real.length > 0 && chance(6) === 0 ? real[chance(real.length)] : undefined;
    const onError =
      goto !== undefined ? { goto } : chance(4) === 0 ? ('continue' as const) : undefined;
    return stage(`s${at}`, {
      needs: real,
      ...(real.length > 0 && { runIf: rules[chance(rules.length)] }),
      ...(onError !== undefined && { onError }),
      ...(goto !== undefined && { maxVisits: 1 + chance(4) }),
    });
  });

/** Runs a graph with outcomes by chance until it ends; throws if a rule is broken on the way. */
const endOfRun = (seed: number): 'completed' | 'failed' => {
  const chance = chanceOf(seed);
  const stages = graphOf(chance);
  const states = new Map<string, StageState>(
    stages.map(({ key }) => [
      key,
      { status: 'pending', visits: 1, visitsBefore: 0, blocked: false, error: null },
    ]),
  );
  const begun = new Set<string>();
  const judge = () => (chance(9) === 0 ? 'condition 1: no' : null);
  for (let turn = 0; turn < 5000; turn++) {
    for (const change of nextChanges(stages, states, judge)) {
      const end = applied(stages, states, { change, begun });
      if (end) return end;
    }
    const running = stages.filter(({ key }) => states.get(key)?.status === 'running');
    const next = running[chance(running.length || 1)];
    const isFailure = chance(16) === 0;
    if (next) {
      const outcome = isFailure ? { status: 'failed' as const, error: 'x' } : DONE;
      change(states, next.key, outcome);
    }
  }
  return fail(`Seed ${seed} does not end`);
};

const DONE = { status: 'completed', error: null } as const;

const change = (states: Map<string, StageState>, key: string, by: Partial<StageState>): void => {
  const state = states.get(key) ?? fail(`There is no stage ${key}`);
  states.set(key, { ...state, ...by });
};

/** Applies a change; returns the end of the run if it is one. */
const applied = (
  stages: TemplateStage[],
  states: Map<string, StageState>,
  { change: next, begun }: { change: NextChange; begun: Set<string> },
): 'completed' | 'failed' | null => {
  const statusOf = (key: string) => states.get(key)?.status ?? 'pending';
  if (next.is === 'end') {
    const open = stages.filter(({ key }) => ['pending', 'running'].includes(statusOf(key)));
    return open.length === 0 ? next.status : fail(`It ends before ${open[0]?.key}`);
  }
  if (next.is === 'again') {
    for (const key of next.keys) {
      if (statusOf(key) === 'running') fail(`It goes back over ${key} at work`);
      const visits = (states.get(key)?.visits ?? 0) + 1;
      change(states, key, {
        status: 'pending',
        visits,
        visitsBefore: 0,
        blocked: false,
        error: null,
      });
    }
    return null;
  }
  if (next.is === 'skip') {
    if (next.reason === '') fail(`It skips ${next.key} without a reason`);
    change(states, next.key, { status: 'skipped', blocked: next.blocked });
    return null;
  }
  const visit = `${next.key} ${states.get(next.key)?.visits}`;
  if (begun.has(visit)) fail(`It begins ${visit} twice`);
  begun.add(visit);
  const needs = stages.find(({ key }) => key === next.key)?.needs ?? [];
  const early = needs.find((need) => !['completed', 'failed', 'skipped'].includes(statusOf(need)));
  if (early !== undefined) fail(`It begins ${visit} while ${early} is ${statusOf(early)}`);
  change(states, next.key, { status: 'running' });
  return null;
};

describe('any graph', () => {
  it('begins each stage once for a visit, after what it needs, and always ends', () => {
    const ends = Array.from({ length: 2000 }, (_, seed) => endOfRun(seed + 1));
    // Both ends come up often, so that neither is left out.
    const completed = ends.filter((end) => end === 'completed').length;
    expect([completed > 100, ends.length - completed > 100]).to.equal([true, true]);
  });
});
