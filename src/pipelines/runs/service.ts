import Boom from '@hapi/boom';
import type { Clock } from '../../kernel/clock.js';
import { orNotFound, throwIfFaults } from '../../kernel/route.js';
import type { TransactionStep } from '../../store/engine/protocol.js';
import type { Store } from '../../store/store.js';
import type { PipelineStageRow } from '../../store/tables/pipelines.js';
import type { PipelineTemplate } from '../templates/contract.js';
import { resolveParameters } from '../templates/parameters.js';
import type { StartApprovedCall } from './approvedcall.js';
import type { CallOutcome } from './calls.js';
import type { ChildRunsStore } from './childqueries.js';
import type { RunEngine } from './engine.js';
import { stopRun } from './hierarchy.js';
import { fillInputValues, inputFaults } from './inputs.js';
import { newRunRows } from './newrun.js';
import { StageError } from './outcome.js';
import { type RecordRunDeps, recordRun } from './record.js';
import { retryChanges, stagesToRetry } from './retry.js';
import { isOpenRun, type LoadedRun, type RunStage, stageIn } from './run.js';
import type { SerializeByRun } from './turns.js';

export interface RunServiceDeps {
  store: Pick<Store, 'transact'>;
  children: ChildRunsStore;
  clock: Clock;
  engine: RunEngine;
  record: RecordRunDeps;
  beginApproved: StartApprovedCall;
  inTurn: SerializeByRun;
}

export interface NewRun {
  userId: string;
  memberId?: string | undefined;
  template: PipelineTemplate;
  params: Record<string, unknown>;
  name?: string | undefined;
  untrusted: boolean;
}

export type StageAnswer =
  | { is: 'approved' | 'rejected'; digest: string; reason?: string | undefined }
  | { is: 'input'; digest: string; values: Record<string, unknown> };

export const createRunService = (deps: RunServiceDeps) => {
  const { clock, engine, record, inTurn } = deps;
  const { runs } = record;

  const owned = async (userId: string, id: string): Promise<LoadedRun> =>
    orNotFound(await runs.owned(userId, id), 'No pipeline run with that id');

  /** Retries until `work` returns true, then advances the run. */
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

  /** Writes the outcome of an attempt unless it is outdated, then advances the run. */
  const onAttempt = (
    { run, row }: RunStage,
    write: (now: LoadedRun) => Promise<boolean>,
  ): Promise<void> =>
    inTurn(run.row.id, async () => {
      for (;;) {
        const now = await runs.byId(run.row.id);
        const of = now && stageIn(now, row.key);
        if (!now || !of || !isSameAttempt(of.row, row)) return;
        if (await write(now)) break;
      }
      await engine.advance(run.row.id);
    });

  return {
    owned,

    start: async (started: NewRun): Promise<LoadedRun> => {
      const { userId, memberId, template, params, name, untrusted } = started;
      const { values, faults } = resolveParameters(template.parameters, params);
      throwIfFaults(faults);
      const now = clock.now();
      const rows = newRunRows({ userId, memberId, template, values, name, untrusted, now });
      const { id } = rows.row;
      await deps.store.transact(deps.children.insert(rows));
      await inTurn(id, () => engine.advance(id));
      return owned(userId, id);
    },

    stop: (userId: string, id: string): Promise<LoadedRun> =>
      onRun(userId, id, async (run) => {
        if (!isOpenRun(run.row)) throw alreadyEnded(run);
        return engine.end(run, { status: 'stopped', error: null });
      }),

    stopAll: async (userId: string): Promise<void> => {
      const stopping = { inTurn, record, engine: () => engine };
      for (const id of await runs.openOf(userId)) await stopRun(stopping, id, OWNER_DISABLED);
    },

    retry: (userId: string, id: string, fromStage?: string): Promise<LoadedRun> =>
      onRun(userId, id, async (run) => {
        if (isOpenRun(run.row)) {
          throw Boom.conflict(
            `The run is ${run.row.status}. Only a run that has ended can be retried`,
          );
        }
        const { parent_id } = run.row;
        if (parent_id !== null) {
          throw Boom.conflict(`The run belongs to ${parent_id}. Retry that run instead`);
        }
        const keys = stagesToRetry(run, fromStage);
        if (keys.length === 0) {
          throw Boom.conflict('No stage of this run failed. Pass fromStage to retry anyway');
        }
        const restarted = {
          status: 'running',
          error: null,
          finished_at: null,
          left_ms: null,
        } as const;
        const { stages, carried } = retryChanges(run, keys);
        const steps = fromStage === undefined ? carried.flatMap(deps.children.carryOver) : [];
        return recordRun(record, run, { run: restarted, stages, steps });
      }),

    /** Only the first answer counts. `steps` are written in the same transaction. */
    answer: (
      userId: string,
      id: string,
      { key, answer, steps = [] }: { key: string; answer: StageAnswer; steps?: TransactionStep[] },
    ): Promise<LoadedRun> =>
      onRun(userId, id, async (run) => {
        const of = orNotFound(stageIn(run, key), 'The run has no stage with that key');
        refuseAnswer(id, of, answer);
        if (answer.is === 'rejected') {
          const error = answer.reason ? `rejected: ${answer.reason}` : 'rejected';
          return engine.settle(run, key, { status: 'failed', error, isFinal: true }, steps);
        }
        if (answer.is === 'input') {
          throwIfFaults(inputFaults(of.stage.config, answer.values));
          const output = fillInputValues(of.stage.config, answer.values);
          return engine.settle(run, key, { status: 'completed', output }, steps);
        }
        if (of.stage.kind === 'approval') {
          const output = { approved: true, reason: answer.reason ?? null };
          return engine.settle(run, key, { status: 'completed', output }, steps);
        }
        try {
          return await deps.beginApproved(of, steps);
        } catch (error) {
          if (!(error instanceof StageError)) throw error;
          const failed = { status: 'failed', error: error.message, isFinal: true } as const;
          return engine.settle(run, key, failed, steps);
        }
      }),

    operationBegun: (of: RunStage, operationId: string): Promise<void> =>
      onAttempt(of, (now) => {
        const stages = new Map([[of.row.key, { operation_id: operationId }]]);
        return recordRun(record, now, { stages });
      }),

    callEnded: (of: RunStage, outcome: CallOutcome): Promise<void> =>
      onAttempt(of, (now) => engine.settle(now, of.row.key, outcome)),
  };
};

export type RunService = ReturnType<typeof createRunService>;

export const OWNER_DISABLED = 'The owner of the run was disabled';

const alreadyEnded = (run: LoadedRun): Boom.Boom =>
  Boom.conflict(`The run has already ended with status ${run.row.status}`, { code: 'ended' });

/** Accepted answers by status: a noun, and the endpoints. */
const ACCEPTED_ANSWERS: Partial<
  Record<PipelineStageRow['status'], [what: string, ...verbs: string[]]>
> = {
  waiting_approval: ['an approval', 'approve', 'reject'],
  waiting_input: ['values', 'input'],
};

const refuseAnswer = (runId: string, { row }: RunStage, answer: StageAnswer): void => {
  const waits = answer.is === 'input' ? 'waiting_input' : 'waiting_approval';
  if (row.status !== waits) {
    const [what, ...verbs] = ACCEPTED_ANSWERS[row.status] ?? [];
    const at = `POST /api/pipelines/${runId}/stages/${row.key}`;
    const message =
      what === undefined
        ? `The stage is not waiting for an answer. Its status is ${row.status}`
        : `The stage is waiting for ${what}. Use ${verbs.map((verb) => `${at}/${verb}`).join(' or ')}`;
    throw Boom.conflict(message, { code: 'not_waiting' });
  }
  if (row.digest === answer.digest) return;
  const message = 'The digest does not match the pending question. Read the run again';
  throw Boom.conflict(message, { code: 'other_digest' });
};

/** True if the stage is still running the same attempt. */
const isSameAttempt = (now: PipelineStageRow, read: PipelineStageRow): boolean =>
  now.status === 'running' && now.visits === read.visits && now.attempt === read.attempt;
