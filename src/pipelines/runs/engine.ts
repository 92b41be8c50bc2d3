import type { AgentControl, AgentRows } from '../../agents/module.js';
import { iso } from '../../kernel/clock.js';
import type { Outbound } from '../../outbound/module.js';
import type { AgentRow } from '../../store/tables/agents.js';
import type { PipelineStageRow } from '../../store/tables/pipelines.js';
import { graphOf } from '../templates/graph.js';
import { outcomeOfAgent } from './agentstage.js';
import { type BeginDeps, beginStage, type StageBeginning, StageFault } from './begin.js';
import type { Effects } from './effects.js';
import { endingOf, type PipelineEnd } from './end.js';
import { type NextChange, nextChanges } from './next.js';
import type { RunsStore } from './queries.js';
import { type RecordRunDeps, recordRun } from './record.js';
import { stoppedBy, valuesOfRun } from './render.js';
import { FRESH, isOpenRun, type LoadedRun, type RunStage, stageIn } from './run.js';

export interface EngineDeps {
  runs: RunsStore;
  record: RecordRunDeps;
  outbound: Outbound;
  begin: BeginDeps;
  effects: Effects;
  agents: { rows: AgentRows; control: AgentControl };
}

/** The outcome of one attempt of a stage. */
export type AttemptOutcome =
  | { status: 'completed'; output: unknown; untrusted?: boolean; usage?: RunUsage }
  | { status: 'failed'; error: string; isFinal?: boolean; untrusted?: boolean; usage?: RunUsage };

interface RunUsage {
  tokens: number;
  costUsd: number;
}

/** Creates the functions that move runs on. The caller lets one work on a run at a time. */
export const createEngine = (deps: EngineDeps) => {
  const { runs, record } = deps;
  const { now } = record;

  const end = async (run: LoadedRun, outcome: PipelineEnd): Promise<boolean> => {
    const open = [...run.stages.values()].filter(({ finished_at }) => finished_at === null);
    const { change, published } = endingOf({ outbound: deps.outbound, now }, run, outcome);
    if (!(await recordRun(record, run, change))) return false;
    published();
    await Promise.all(open.map((row) => interrupt(run, row)));
    return true;
  };

  /** Ends what works for a stage: its call or its agent. */
  const interrupt = async (run: LoadedRun, row: PipelineStageRow): Promise<void> => {
    deps.effects.abort(run.row.id, row.key);
    const agent = row.agent_id === null ? undefined : await deps.agents.rows.byId(row.agent_id);
    if (agent) await deps.agents.control.stop(agent).catch(() => undefined);
  };

  const begin = async (run: LoadedRun, key: string): Promise<boolean> => {
    const of = stageIn(run, key);
    if (!of) throw new Error(`The run ${run.row.id} has no stage ${key}`);
    const untrusted = isUntrusted(of) ? 1 : 0;
    const prepared = { ...of, row: { ...of.row, untrusted } };
    const beginning = await beginningOf(deps.begin, prepared);
    if ('fault' in beginning) {
      return settle(run, key, { status: 'failed', error: beginning.fault, isFinal: true });
    }
    const change = {
      untrusted,
      started_at: iso(now()),
      due: null,
      due_at: null,
      ...timeoutOf(of, now()),
      ...beginning.change,
    };
    const stages = new Map([[key, change]]);
    const started = run.row.started_at === null ? { started_at: iso(now()) } : {};
    if (!(await recordRun(record, run, { run: started, stages, steps: beginning.steps ?? [] })))
      return false;
    beginning.begun?.();
    const begun = stageIn(run, key);
    if (begun && beginning.calls) deps.effects.begin(begun);
    return true;
  };

  /** Writes the outcome of an attempt: the end of the stage, or its next attempt. */
  const settle = async (run: LoadedRun, key: string, outcome: AttemptOutcome): Promise<boolean> => {
    const of = stageIn(run, key);
    if (!of) return true;
    const { usage = { tokens: 0, costUsd: 0 } } = outcome;
    const spent = {
      tokens: run.row.tokens + usage.tokens,
      cost_usd: run.row.cost_usd + usage.costUsd,
    };
    const change =
      outcome.status === 'completed' ? completed(outcome, now()) : failed(of, outcome, now());
    return recordRun(record, run, { run: spent, stages: new Map([[key, change]]) });
  };

  const apply = async (run: LoadedRun, changes: NextChange[]): Promise<boolean> => {
    const at = iso(now());
    const stages = new Map<string, Partial<PipelineStageRow>>();
    for (const change of changes) {
      if (change.is === 'skip') {
        const { reason, blocked } = change;
        stages.set(change.key, {
          status: 'skipped',
          reason,
          blocked: blocked ? 1 : 0,
          finished_at: at,
        });
      }
      if (change.is === 'again') {
        for (const key of change.keys) {
          const visits = (run.stages.get(key)?.visits ?? 0) + 1;
          stages.set(key, { ...FRESH, visits, reason: change.because });
        }
      }
    }
    if (stages.size > 0 && !(await recordRun(record, run, { stages }))) return false;
    for (const change of changes) {
      if (change.is === 'begin' && !(await begin(run, change.key))) return false;
      if (change.is === 'end' && !(await end(run, change))) return false;
    }
    return true;
  };

  /** Does all that follows from the state of a run, until something has to happen. */
  const advance = async (id: string): Promise<void> => {
    for (;;) {
      const run = await runs.byId(id);
      if (!run || !isOpenRun(run.row) || deps.effects.isStopping()) return;
      const scope = valuesOfRun(run);
      const changes = nextChanges(run.template.stages, statesOf(run), (stage) =>
        stoppedBy(stage, scope),
      );
      if (changes.length === 0) return;
      await apply(run, changes);
    }
  };

  /** Settles a stage at work whose agent has ended, or was removed. */
  const settleAgent = async (
    run: LoadedRun,
    key: string,
    agent: AgentRow | undefined,
  ): Promise<void> => {
    const of = stageIn(run, key);
    if (!of) return;
    if (!agent) {
      await settle(run, key, { status: 'failed', error: 'Its agent was removed' });
      return;
    }
    const outcome = outcomeOfAgent(of, agent);
    if (outcome.is === 'again') {
      const asked = new Map([[key, { reason: `Asked again: ${outcome.message}` }]]);
      if (await recordRun(record, run, { stages: asked }))
        await deps.agents.control.message(agent, outcome.message);
      return;
    }
    const usage = { tokens: agent.input_tokens + agent.output_tokens, costUsd: agent.cost_usd };
    const settled: AttemptOutcome =
      outcome.is === 'completed'
        ? { status: 'completed', output: outcome.output, untrusted: agent.untrusted === 1, usage }
        : { status: 'failed', error: outcome.error, untrusted: agent.untrusted === 1, usage };
    await settle(run, key, settled);
  };

  return { advance, begin, end, interrupt, settle, settleAgent };
};

export type RunEngine = ReturnType<typeof createEngine>;

const beginningOf = async (
  deps: BeginDeps,
  of: RunStage,
): Promise<StageBeginning | { fault: string }> => {
  try {
    return await beginStage(deps, of);
  } catch (error) {
    if (error instanceof StageFault) return { fault: error.message };
    throw error;
  }
};

/**
 * True if what came from outside is in a stage: that of the run, or of any stage above it, whose error
 * it may name although stages between them were skipped.
 */
const isUntrusted = ({ run, stage }: RunStage): boolean =>
  run.row.untrusted === 1 ||
  [...graphOf(run.template.stages).above(stage.key)].some(
    (key) => run.stages.get(key)?.untrusted === 1,
  );

const statesOf = (run: LoadedRun) =>
  new Map(
    [...run.stages].map(([key, { status, visits, blocked, error }]) => [
      key,
      { status, visits, blocked: blocked === 1, error },
    ]),
  );

/** The time after which an attempt has taken too long. */
export const timeoutOf = ({ stage }: RunStage, now: number): Partial<PipelineStageRow> =>
  stage.timeoutSeconds === undefined
    ? {}
    : { due: 'timeout', due_at: iso(now + stage.timeoutSeconds * 1000) };

/** The columns of a stage that are empty once an attempt is over. */
const OVER = { digest: null, due: null, due_at: null, reserved_tokens: 0, reserved_usd: 0 };

const completed = (
  { output, untrusted }: Extract<AttemptOutcome, { status: 'completed' }>,
  now: number,
): Partial<PipelineStageRow> => ({
  ...OVER,
  status: 'completed',
  effect: 'none',
  output: JSON.stringify(output ?? null),
  error: null,
  ...(untrusted && { untrusted: 1 }),
  finished_at: iso(now),
});

const failed = (
  { stage, row }: RunStage,
  { error, isFinal = false, untrusted }: Extract<AttemptOutcome, { status: 'failed' }>,
  now: number,
): Partial<PipelineStageRow> => {
  const { attempts = 1, backoffSeconds = 5, factor = 2 } = stage.retry ?? {};
  if (isFinal || row.attempt >= attempts) {
    const taint = untrusted ? { untrusted: 1 } : {};
    return { ...OVER, ...taint, status: 'failed', effect: 'none', error, finished_at: iso(now) };
  }
  const at = iso(now + backoffSeconds * 1000 * factor ** (row.attempt - 1));
  const reason = `Attempt ${row.attempt} failed: ${error}`;
  const again = {
    status: 'running',
    attempt: row.attempt + 1,
    agent_id: null,
    effect: 'none',
  } as const;
  return { ...OVER, ...again, reason, error, due: 'retry', due_at: at };
};
