import { type AgentRows, UNFINISHED } from '../../agents/module.js';
import type { Log } from '../../kernel/log.js';
import type { Outbound } from '../../outbound/module.js';
import { askToRepeat } from './begin.js';
import type { RunEngine } from './engine.js';
import { hasChildren, type RunHierarchy } from './hierarchy.js';
import { type RecordRunDeps, recordRun } from './record.js';
import { type LoadedRun, type RunStage, stageIn } from './run.js';
import { OWNER_DISABLED } from './service.js';
import type { SerializeByRun } from './turns.js';

export interface RecoveryDeps {
  engine: RunEngine;
  record: RecordRunDeps;
  outbound: Outbound;
  agents: AgentRows;
  calls: StageCalls;
  family: RunHierarchy;
  inTurn: SerializeByRun;
}

interface StageCalls {
  isRepeatable(of: RunStage): boolean;
  begin(of: RunStage): void;
}

/**
 * Resumes runs after a restart. Agents that have ended are settled. Calls that can be repeated
 * safely are repeated, and the owner is asked about others.
 */
export const recoverRuns = async (deps: RecoveryDeps, log: Log): Promise<void> => {
  await interruptOutlived(deps);
  for (const id of await deps.record.runs.open()) {
    await deps
      .inTurn(id, () => recoverRun(deps, id))
      .catch((err) => log.error({ err, run: id }, 'pipeline run could not be resumed'));
  }
};

/** Stops agents of ended stages, which an earlier shutdown left running. */
const interruptOutlived = async ({ record: { runs }, engine, inTurn }: RecoveryDeps) => {
  for (const { run_id, key } of await runs.outlived()) {
    await inTurn(run_id, async () => {
      const run = await runs.byId(run_id);
      const row = run?.stages.get(key);
      if (run && row && row.finished_at !== null) await engine.interrupt(run, row);
    });
  }
};

const recoverRun = async (deps: RecoveryDeps, id: string): Promise<void> => {
  const run = await deps.record.runs.byId(id);
  if (!run) return;
  if (await deps.record.runs.isSuspended(run.row)) {
    await deps.engine.end(run, { status: 'stopped', error: OWNER_DISABLED });
    return;
  }
  if (!(await deps.family.isWanted(run))) {
    await deps.engine.end(run, { status: 'stopped', error: null });
    return;
  }
  // The parent stage starts it when it is its turn.
  if (run.row.parent_id !== null && run.row.status === 'queued') return;
  for (const { key } of [...run.stages.values()].filter(({ status }) => status === 'running')) {
    await recoverStage(deps, run, key);
  }
  await deps.engine.advance(id);
};

const recoverStage = async (deps: RecoveryDeps, run: LoadedRun, key: string): Promise<void> => {
  const of = stageIn(run, key);
  if (!of) return;
  if (hasChildren(of)) {
    deps.family.goOn(run.row.id, key);
    return;
  }
  const { agent_id, effect, due } = of.row;
  if (agent_id !== null) {
    const agent = await deps.agents.byId(agent_id);
    const isOver = !agent || !UNFINISHED.includes(agent.status);
    if (isOver) await deps.engine.settleAgent(run, key, agent);
    else deps.engine.watchAgent(of);
    return;
  }
  if (effect !== 'begun' || due === 'retry') return;
  if (deps.calls.isRepeatable(of)) {
    deps.calls.begin(of);
    return;
  }
  const {
    change,
    steps = [],
    begun,
  } = askToRepeat(
    { outbound: deps.outbound, now: deps.record.now },
    of,
    'The daemon stopped during this call',
  );
  if (await recordRun(deps.record, run, { stages: new Map([[key, change]]), steps })) begun?.();
};

export const settleEndedAgent = async (
  { record: { runs }, engine, agents, inTurn }: RecoveryDeps,
  agentId: string,
): Promise<void> => {
  const found = await runs.ofAgent(agentId);
  if (!found) return;
  await inTurn(found.run_id, async () => {
    const run = await runs.byId(found.run_id);
    const row = run?.stages.get(found.key);
    const isAtWork = row?.status === 'running' && row.agent_id === agentId;
    if (run && isAtWork) await engine.settleAgent(run, found.key, await agents.byId(agentId));
    await engine.advance(found.run_id);
  });
};
