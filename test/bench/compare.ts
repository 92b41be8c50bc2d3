import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { V8_OPTIONS } from '../../cli/daemon/start.js';
import { RUNS } from './contenders.js';
import { atLeast, type Goal } from './goals.js';
import { median } from './load.js';
import type { Figures } from './receivers.js';

/** A loss up to this part counts as none. */
const TOLERANCE = 0.05;

/** Builds a commit in a scratch checkout. */
export const buildCommit = async (commit: string) => {
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim();
  const label = git('rev-parse', '--short', '--verify', `${commit}^{commit}`);
  const folder = await mkdtemp(join(tmpdir(), 'adjutant-base-'));
  git('worktree', 'add', '--detach', '--force', folder, label);
  const remove = async () => {
    await rm(folder, { recursive: true, force: true });
    git('worktree', 'prune');
  };
  const built = spawnSync('npm', ['run', 'build'], { cwd: folder, stdio: 'inherit' });
  if (built.status !== 0) {
    await remove();
    throw new Error(`${label} could not be built`);
  }
  const entry = [...V8_OPTIONS, join(folder, 'dist/test/harness/serve.js')];
  return { label, entry, remove };
};

/**
 * The rate of each kind of run relative to the base, round by round. The median absolute deviation
 * of the rounds is added, so that noise alone misses no goal.
 */
export const compareWith = (label: string, figures: Figures[]): Goal[] =>
  [RUNS.held, RUNS.notify, RUNS.judged].map((name) => {
    const ratesOf = (of: string) => figures.find((each) => each.name === of)?.rates ?? [];
    const base = ratesOf(`${name} (${label})`);
    const ratios = ratesOf(name).map((rate, at) => rate / (base[at] ?? Number.NaN));
    const middle = median(ratios);
    const spread = median(ratios.map((ratio) => Math.abs(ratio - middle)));
    return atLeast(`${name}, of ${label}, plus the spread`, middle + spread, 1 - TOLERANCE);
  });
