import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AgentControl, AgentRows, FollowUp } from '../../agents/module.js';
import { iso } from '../../kernel/clock.js';
import type { TransactionStep } from '../../store/engine/protocol.js';
import type { AgentRow } from '../../store/tables/agents.js';
import type { PipelineStageRow } from '../../store/tables/pipelines.js';
import { buildStageGraph } from '../templates/graph.js';
import type { StageKind } from '../templates/stagekinds.js';
import { agentOutcome, JSON_RETRY_PREFIX } from './agentstage.js';
import { askToRepeat, type BeginDeps, beginStage, type StageBeginning } from './begin.js';
import type { Budget } from './budget.js';
import type { Effects } from './effects.js';
import { buildRunEnd, formatRunResult, type PipelineEnd } from './end.js';
import { type JudgeStage, type NextChange, nextChanges } from './next.js';
import {
  type AttemptOutcome,
  completedChange,
  failedChange,
  type RunUsage,
  StageError,
  truncateReason,
} from './outcome.js';
import { type RecordRunDeps, recordRun } from './record.js';
import { stageValues, unmetCondition } from './render.js';
import { isOpenRun, type LoadedRun, RESTARTED_STAGE, type RunStage, stageIn } from './run.js';
import { limitBeginning, limitOutcome } from './sizelimits.js';

export interface EngineDeps {
  record: RecordRunDeps;
  begin: BeginDeps;
  effects: Effects;
  agents: { rows: AgentRows; control: AgentControl };
  budget: Budget;
  /** Reply of the hook that started the run. */
  answer(executionId: string, text: string): Promise<FollowUp>;
  below: {
    stopChildren(row: PipelineStageRow): Promise<void>;
    cancelResearch(of: RunStage): Promise<void>;
    /** The time of a run does not count while its agent waits. */
    watchAgent(of: RunStage): void;
  };
}

const NO_REPLY: FollowUp = { statements: [], committed: () => undefined };
/** In characters. */
const MAX_REPLY_LENGTH = 100_000;

/** The caller must serialize the work on a run. */
export const createEngine = (deps: EngineDeps) => {
  const { record } = deps;
  const { runs, now } = record;

  const end = async (run: LoadedRun, outcome: PipelineEnd): Promise<boolean> => {
    const open = [...run.stages.values()].filter(({ finished_at }) => finished_at === null);
    const { execution_id: executionId } = run.row;
    const isAnswered = outcome.status === 'completed' && executionId !== null;
    const reply = isAnswered
      ? await deps.answer(executionId, formatRunResult(run, MAX_REPLY_LENGTH))
      : NO_REPLY;
    const { change, published } = buildRunEnd(deps.begin, run, outcome, reply);
    if (!(await recordRun(record, run, change))) return false;
    published();
    await Promise.all(open.map((row) => interrupt(run, row)));
    return true;
  };

  const interrupt = async (run: LoadedRun, row: PipelineStageRow): Promise<void> => {
    deps.effects.abort(run.row.id, row.key);
    const of = stageIn(run, row.key);
    if (of && (of.stage.kind === 'foreach' || of.stage.kind === 'pipeline'))
      await deps.below.stopChildren(row);
    if (of?.stage.kind === 'research') await deps.below.cancelResearch({ ...of, row });
    const agent = row.agent_id === null ? undefined : await deps.agents.rows.byId(row.agent_id);
    if (!agent) return;
    await deps.agents.control.stop(agent).catch(() => undefined);
    const stopped = (await deps.agents.rows.byId(agent.id)) ?? agent;
    await deps.budget.spent(run, toRunUsage(stopped));
  };

  const begin = async (run: LoadedRun, key: string): Promise<boolean> => {
    const of = stageIn(run, key);
    if (!of) throw new Error(`The run ${run.row.id} has no stage ${key}`);
    const untrusted = isUntrusted(of) ? 1 : 0;
    const prepared = { ...of, row: { ...of.row, untrusted } };
    const work = () => beginAttempt(run, prepared);
    return SPENDING.has(of.stage.kind) ? deps.budget.inTurn(run, work) : work();
  };

  const beginAttempt = async (run: LoadedRun, of: RunStage): Promise<boolean> => {
    const { key, untrusted } = of.row;
    const beginning = await tryBeginStage(deps.begin, of);
    if ('fault' in beginning) {
      const failed = { status: 'failed', error: beginning.fault, isFinal: true } as const;
      return settle(run, key, { ...failed, untrusted: untrusted === 1 });
    }
    const change = {
      untrusted,
      started_at: iso(now()),
      due: null,
      due_at: null,
      ...computeStageTimeout(of, now()),
      ...beginning.change,
    };
    const stages = new Map([[key, change]]);
    const started = run.row.started_at === null ? { started_at: iso(now()) } : {};
    if (!(await recordRun(record, run, { run: started, stages, steps: beginning.steps ?? [] })))
      return false;
    beginning.begun?.();
    const begun = stageIn(run, key);
    if (begun && beginning.calls) deps.effects.begin(begun);
    if (begun) deps.below.watchAgent(begun);
    return true;
  };

  const settle = async (
    run: LoadedRun,
    key: string,
    ended: AttemptOutcome,
    more: TransactionStep[] = [],
  ): Promise<boolean> => {
    const of = stageIn(run, key);
    if (!of) return true;
    const outcome = limitOutcome(of, ended);
    const spent = outcome.usage ? [deps.budget.spend(run, outcome.usage)] : [];
    const { change, steps = [], begun } = endingOfAttempt(deps.begin, of, outcome);
    const stages = new Map([[key, change]]);
    const isWritten = await recordRun(record, run, {
      stages,
      steps: [...more, ...spent, ...steps],
    });
    if (isWritten) begun?.();
    return isWritten;
  };

  const apply = async (run: LoadedRun, changes: NextChange[]): Promise<boolean> => {
    const stages = changedStages(run, changes, iso(now()));
    if (stages.size > 0 && !(await recordRun(record, run, { stages }))) return false;
    for (const change of changes) {
      if (change.is === 'begin' && !(await begin(run, change.key))) return false;
      if (change.is === 'end' && !(await end(run, change))) return false;
    }
    return true;
  };

  /** Applies all changes that follow from the state of a run. */
  const advance = async (id: string): Promise<void> => {
    for (;;) {
      const run = await runs.byId(id);
      if (!run || !isOpenRun(run.row) || deps.effects.isStopping()) return;
      const judge = createJudge(run);
      const changes = nextChanges(run.template.stages, toStageStates(run), judge.judge);
      if (changes.length === 0 && !judge.isUnfinished()) return;
      await apply(run, changes);
      if (judge.isUnfinished()) await nextTurn();
    }
  };

  const settleAgent = async (
    run: LoadedRun,
    key: string,
    agent: AgentRow | undefined,
  ): Promise<void> => {
    const of = stageIn(run, key);
    if (!of) return;
    if (!agent) {
      await settle(run, key, { status: 'failed', error: 'The agent was deleted' });
      return;
    }
    const outcome = agentOutcome(of, agent);
    if (outcome.is === 'again') {
      const reasons = new Map([[key, { reason: `${JSON_RETRY_PREFIX}${outcome.message}` }]]);
      if (await recordRun(record, run, { stages: reasons })) {
        await deps.agents.control.message(agent, outcome.message);
        deps.below.watchAgent(of);
      }
      return;
    }
    const usage = toRunUsage(agent);
    const settled: AttemptOutcome =
      outcome.is === 'completed'
        ? { status: 'completed', output: outcome.output, untrusted: agent.untrusted === 1, usage }
        : { status: 'failed', error: outcome.error, untrusted: agent.untrusted === 1, usage };
    await settle(run, key, settled);
  };

  return {
    advance,
    begin,
    end,
    interrupt,
    settle,
    settleAgent,
    watchAgent: (of: RunStage): void => deps.below.watchAgent(of),
  };
};

export type RunEngine = ReturnType<typeof createEngine>;

const changedStages = (
  run: LoadedRun,
  changes: NextChange[],
  at: string,
): Map<string, Partial<PipelineStageRow>> => {
  const stages = new Map<string, Partial<PipelineStageRow>>();
  for (const change of changes) {
    if (change.is === 'skip') {
      const { key, reason, blocked } = change;
      stages.set(key, { status: 'skipped', reason, blocked: blocked ? 1 : 0, finished_at: at });
    }
    if (change.is === 'again') {
      for (const key of change.keys) {
        const { visits = 0, effect = 'none' } = run.stages.get(key) ?? {};
        const reason = truncateReason(change.because);
        // An interrupted call stays in doubt.
        stages.set(key, { ...RESTARTED_STAGE, effect, visits: visits + 1, reason });
      }
    }
  }
  return stages;
};

/** Asks the owner about a call in doubt. */
const endingOfAttempt = (
  deps: BeginDeps,
  of: RunStage,
  outcome: AttemptOutcome,
): StageBeginning => {
  if (outcome.status === 'completed') return { change: completedChange(outcome, deps.now()) };
  return outcome.isInDoubt
    ? askToRepeat(deps, of, outcome.error)
    : { change: failedChange(of, outcome, deps.now()) };
};

const toRunUsage = ({ input_tokens, output_tokens, cost_usd }: AgentRow): RunUsage => ({
  tokens: input_tokens + output_tokens,
  costUsd: cost_usd,
});

const SPENDING = new Set<StageKind>(['agent', 'research']);

const tryBeginStage = async (
  deps: BeginDeps,
  of: RunStage,
): Promise<StageBeginning | { fault: string }> => {
  try {
    return limitBeginning(of.run, of.row.key, await beginStage(deps, of));
  } catch (error) {
    if (error instanceof StageError) return { fault: error.message };
    throw error;
  }
};

/**
 * Includes all stages above, because a stage may use their errors even if stages in between were
 * skipped.
 */
const isUntrusted = ({ run, stage }: RunStage): boolean =>
  run.row.untrusted === 1 ||
  [...buildStageGraph(run.template.stages).above(stage.key)].some(
    (key) => run.stages.get(key)?.untrusted === 1,
  );

/** Time for conditions per turn of the event loop, in milliseconds. */
const JUDGED_MS = 25;

/** Evaluates conditions, and defers the rest to the next turn if they take long. */
const createJudge = (run: LoadedRun) => {
  let took = 0;
  let isUnfinished = false;
  const judge: JudgeStage = (stage) => {
    if (took >= JUDGED_MS && stage.when?.length) {
      isUnfinished = true;
      return undefined;
    }
    const begun = performance.now();
    const reason = unmetCondition(stage, stage.when ? stageValues(run, stage) : {});
    took += performance.now() - begun;
    return reason;
  };
  return { judge, isUnfinished: () => isUnfinished };
};

const toStageStates = (run: LoadedRun) =>
  new Map(
    [...run.stages].map(
      ([key, { status, visits, visits_before: visitsBefore, blocked, error }]) => [
        key,
        { status, visits, visitsBefore, blocked: blocked === 1, error },
      ],
    ),
  );

export const computeStageTimeout = ({ stage }: RunStage, now: number): Partial<PipelineStageRow> =>
  stage.timeoutSeconds === undefined
    ? {}
    : { due: 'timeout', due_at: iso(now + stage.timeoutSeconds * 1000) };
