import Boom from '@hapi/boom';
import { type Clock, iso } from '../../kernel/clock.js';
import { mint } from '../../kernel/ids.js';
import { orNotFound, refuseFaults } from '../../kernel/route.js';
import type { PipelineRunRow, PipelineStageRow } from '../../store/tables/pipelines.js';
import type { PipelineTemplate } from '../templates/contract.js';
import { givenParameters } from '../templates/parameters.js';
import { isRunnable } from './begin.js';
import type { CallOutcome } from './calls.js';
import { type RunEngine, timeoutOf } from './engine.js';
import { inputFaults } from './inputs.js';
import { withBelow } from './next.js';
import type { RunsStore } from './queries.js';
import { type RecordRunDeps, recordRun } from './record.js';
import { FRESH, isOpenRun, type LoadedRun, type RunStage, stageIn } from './run.js';

export interface RunServiceDeps {
  runs: RunsStore;
  clock: Clock;
  engine: RunEngine;
  record: RecordRunDeps;
  /** Makes the call that a stage has recorded. */
  call(of: RunStage): void;
  inTurn: InTurn;
}

/** Lets one work on a run at a time. */
export type InTurn = <T>(runId: string, work: () => Promise<T>) => Promise<T>;

export interface NewRun {
  userId: string;
  template: PipelineTemplate;
  params: Record<string, unknown>;
  name?: string | undefined;
  untrusted: boolean;
}

/** The answer of a person to what a stage waits for. */
export type StageAnswer =
  | { is: 'approved' | 'rejected'; digest: string; reason?: string | undefined }
  | { is: 'input'; digest: string; values: Record<string, unknown> };

/** Creates the verbs on runs. */
export const createRunService = (deps: RunServiceDeps) => {
  const { runs, clock, engine, record, inTurn } = deps;

  const owned = async (userId: string, id: string): Promise<LoadedRun> =>
    orNotFound(await runs.owned(userId, id), 'No run of a pipeline with that id');

  /** Reads a run, and does with it what must be written before it changes; then it goes on. */
  const onRun = async (
    userId: string,
    id: string,
    work: (run: LoadedRun) => Promise<boolean>,
  ): Promise<LoadedRun> => {
    await inTurn(id, async () => {
      while (!(await work(await owned(userId, id))));
      await engine.advance(id);
    });
    return owned(userId, id);
  };

  return {
    owned,

    /** Starts a run. 400 for parameters that do not fit, 501 for stages of a kind that is not built. */
    start: async (started: NewRun): Promise<LoadedRun> => {
      const { userId, template, params } = started;
      const { values, faults } = givenParameters(template.parameters, params);
      refuseFaults(faults);
      const unbuilt = template.stages.find(({ kind }) => !isRunnable(kind));
      if (unbuilt) {
        const message = `Stages of the kind ${unbuilt.kind} cannot run yet; the README lists what can`;
        throw Boom.notImplemented(message);
      }
      const { row, stages } = rowsOf(started, values, clock.now());
      await runs.insert(row, stages);
      await inTurn(row.id, () => engine.advance(row.id));
      return owned(userId, row.id);
    },

    stop: (userId: string, id: string): Promise<LoadedRun> =>
      onRun(userId, id, async (run) => {
        if (!isOpenRun(run.row)) throw over(run);
        return engine.end(run, { status: 'stopped', error: null });
      }),

    /** Goes on with a run that has ended. */
    retry: (userId: string, id: string, fromStage?: string): Promise<LoadedRun> =>
      onRun(userId, id, async (run) => {
        if (isOpenRun(run.row)) {
          throw Boom.conflict(
            `The run is ${run.row.status}: only one that has ended can be retried`,
          );
        }
        const keys = retriedStages(run, fromStage);
        const stages = new Map(keys.map((key) => [key, comingAgain(run, key)]));
        const again = { status: 'running', error: null, finished_at: null, left_ms: null } as const;
        return recordRun(record, run, { run: again, stages });
      }),

    /** Answers what a stage waits for. The first answer counts. */
    answer: (
      userId: string,
      id: string,
      { key, answer }: { key: string; answer: StageAnswer },
    ): Promise<LoadedRun> =>
      onRun(userId, id, async (run) => {
        const of = orNotFound(stageIn(run, key), 'The run has no stage with that key');
        refuseAnswer(of, answer);
        if (answer.is === 'rejected') {
          const error = answer.reason ? `rejected: ${answer.reason}` : 'rejected';
          return engine.settle(run, key, { status: 'failed', error, isFinal: true });
        }
        if (answer.is === 'input') {
          refuseFaults(inputFaults(of.stage.config, answer.values));
          return engine.settle(run, key, { status: 'completed', output: answer.values });
        }
        if (of.stage.kind === 'approval') {
          const output = { approved: true, reason: answer.reason ?? null };
          return engine.settle(run, key, { status: 'completed', output });
        }
        const begins = { status: 'running', effect: 'begun', reason: null } as const;
        const change = { ...begins, ...ANSWERED, ...timeoutOf(of, clock.now()) };
        if (!(await recordRun(record, run, { stages: new Map([[key, change]]) }))) return false;
        const begun = stageIn(run, key);
        if (begun) deps.call(begun);
        return true;
      }),

    /** Records the outcome of a call. */
    callEnded: async ({ run, row }: RunStage, outcome: CallOutcome): Promise<void> => {
      const { id } = run.row;
      await inTurn(id, async () => {
        for (;;) {
          const now = await runs.byId(id);
          const of = now && stageIn(now, row.key);
          const isSame = of?.row.visits === row.visits && of.row.attempt === row.attempt;
          if (!now || !of || !isSame || of.row.status !== 'running') return;
          if (await engine.settle(now, row.key, outcome)) break;
        }
        await engine.advance(id);
      });
    },
  };
};

export type RunService = ReturnType<typeof createRunService>;

/** The columns of a stage that are empty once it was answered. */
const ANSWERED = { digest: null, due: null, due_at: null };

const over = (run: LoadedRun): Boom.Boom =>
  Boom.conflict(`The run has ended: it is ${run.row.status}`, { code: 'ended' });

const refuseAnswer = ({ row }: RunStage, answer: StageAnswer): void => {
  const waits = answer.is === 'input' ? 'waiting_input' : 'waiting_approval';
  if (row.status !== waits) {
    const message = `The stage is ${row.status}: it waits for no such answer`;
    throw Boom.conflict(message, { code: 'not_waiting' });
  }
  if (row.digest === answer.digest) return;
  const message = 'The stage waits for something else than what you were shown: look again';
  throw Boom.conflict(message, { code: 'other_digest' });
};

/** Returns the stages that begin anew: from one on, or all that failed and what they kept from running. */
const retriedStages = (run: LoadedRun, fromStage: string | undefined): string[] => {
  const { stages } = run.template;
  if (fromStage !== undefined) {
    if (!run.stages.has(fromStage)) {
      refuseFaults([{ path: 'fromStage', message: `names no stage of the run: ${fromStage}` }]);
    }
    return withBelow(stages, fromStage);
  }
  const unfinished = [...run.stages.values()].filter(
    ({ status, blocked }) => status === 'failed' || status === 'stopped' || blocked === 1,
  );
  const keys = new Set(unfinished.flatMap(({ key }) => withBelow(stages, key)));
  if (keys.size === 0) throw Boom.conflict('Nothing of the run has failed: name a stage');
  return [...keys];
};

const comingAgain = (run: LoadedRun, key: string): Partial<PipelineStageRow> => ({
  ...FRESH,
  visits: (run.stages.get(key)?.visits ?? 0) + 1,
});

const rowsOf = (
  { userId, template, name, untrusted }: NewRun,
  values: Record<string, unknown>,
  now: number,
): { row: PipelineRunRow; stages: PipelineStageRow[] } => {
  const { parameters, stages, limits, onFinish } = template;
  const id = mint('pipeline', now);
  const row: PipelineRunRow = {
    id,
    user_id: userId,
    template_id: template.id,
    template_version: template.version,
    name: name?.trim() ?? template.name,
    template: JSON.stringify({ parameters, stages, limits, onFinish }),
    params: JSON.stringify(values),
    status: 'queued',
    untrusted: untrusted ? 1 : 0,
    step: 0,
    tokens: 0,
    cost_usd: 0,
    error: null,
    deadline_at: null,
    left_ms: null,
    created_at: iso(now),
    started_at: null,
    finished_at: null,
  };
  const ofStages = stages.map(({ key }, position) => ({
    ...FRESH,
    run_id: id,
    key,
    position,
    visits: 1,
  }));
  return { row, stages: ofStages };
};
