import { type Clock, iso } from '../../kernel/clock.js';
import { type DueSource, settleEach } from '../../schedule/module.js';
import type { PipelineStageRow } from '../../store/tables/pipelines.js';
import type { RunEngine } from './engine.js';
import type { RunsStore } from './queries.js';
import { isOpenRun, type LoadedRun, type RunStage, stageIn } from './run.js';
import type { SerializeByRun } from './turns.js';

interface DueRunsDeps {
  runs: RunsStore;
  clock: Clock;
  engine: RunEngine;
  inTurn: SerializeByRun;
  isRepeatable(of: RunStage): boolean;
}

export const createDueRuns = (deps: DueRunsDeps): DueSource => {
  const { runs, clock, engine, inTurn } = deps;
  return {
    name: 'pipelines',
    nextAt: runs.nextDue,
    tick: async () => {
      const due = await runs.dueAt(iso(clock.now()));
      await settleEach(due, (id) =>
        inTurn(id, async () => {
          for (let isLeft = true; isLeft; ) isLeft = await settleDue(deps, id);
          await engine.advance(id);
        }),
      );
    },
  };
};

/** Resolves to true if there may be more. */
const settleDue = async (deps: DueRunsDeps, id: string): Promise<boolean> => {
  const run = await deps.runs.byId(id);
  if (!run || !isOpenRun(run.row)) return false;
  const now = iso(deps.clock.now());
  const { deadline_at } = run.row;
  if (deadline_at !== null && deadline_at <= now) {
    const error = `The run exceeded its limit of ${run.template.limits.maxSeconds} s`;
    await deps.engine.end(run, { status: 'failed', error });
    return true;
  }
  const stage = [...run.stages.values()].find(({ due_at }) => due_at !== null && due_at <= now);
  if (!stage) return false;
  await settleStage(deps, run, stage);
  return true;
};

const settleStage = async (
  { engine, isRepeatable }: DueRunsDeps,
  run: LoadedRun,
  { key, due }: PipelineStageRow,
): Promise<void> => {
  if (due === 'wait') await engine.settle(run, key, { status: 'completed', output: null });
  if (due === 'retry') await engine.begin(run, key);
  if (due === 'expiry') {
    const error = 'expired: no answer was received in time';
    await engine.settle(run, key, { status: 'failed', error, isFinal: true });
  }
  if (due !== 'timeout') return;
  const of = stageIn(run, key);
  if (!of) return;
  await engine.interrupt(run, of.row);
  const error = `The stage exceeded its timeout of ${of.stage.timeoutSeconds} s`;
  const isCall = of.row.effect === 'begun' && of.stage.kind !== 'research';
  const isInDoubt = isCall && !isRepeatable(of);
  await engine.settle(run, key, { status: 'failed', error, ...(isInDoubt && { isInDoubt }) });
};
