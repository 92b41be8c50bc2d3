import type { Agents } from '../../agents/module.js';
import type { Base } from '../../base.js';
import type { Experts } from '../../experts/module.js';
import type { Jobs } from '../../jobs/module.js';
import type { Outbound } from '../../outbound/module.js';
import type { Permissions } from '../../permissions/module.js';
import type { Hub } from '../../realtime/module.js';
import type { ResearchFollow } from '../../research/module.js';
import type { PipelineRunRow } from '../../store/tables/pipelines.js';
import type { Tools } from '../../tools/module.js';
import type { Vault } from '../../vault/module.js';
import type { FindTemplate } from '../templates/nestedtemplates.js';
import { createAgentRest } from './agentrest.js';
import { createAgentBeginning } from './agentstage.js';
import { createApprovedCalls } from './approvedcall.js';
import { createBackgroundWork } from './background.js';
import type { BeginDeps, BeginStage } from './begin.js';
import { type Budget, createBudget } from './budget.js';
import { createStageCalls } from './calls.js';
import { type ChildRunsStore, childRunsStore, childRunWrites } from './childqueries.js';
import { createForeachBeginning, createNestedBeginning, type NestedDeps } from './children.js';
import { createDueRuns } from './clock.js';
import { createEffects, type PerformCall, type RecordCallOutcome } from './effects.js';
import { createEngine, type EngineDeps, type RunEngine } from './engine.js';
import { createRunHierarchy } from './hierarchy.js';
import { createInDoubtCheck } from './indoubt.js';
import { type RunsStore, runsStore } from './queries.js';
import { type RecoveryDeps, recoverRuns, settleEndedAgent } from './recovery.js';
import { createStageResearch, type RecordOperation } from './research.js';
import { createRunService } from './service.js';
import { createRunSerializer, type SerializeByRun } from './turns.js';

export interface RunsModuleDeps {
  hub: Hub;
  jobs: Jobs;
  outbound: Outbound;
  agents: Agents;
  experts: { experts: Experts };
  tools: Tools;
  access: {
    permissions: Permissions;
    vault: Vault;
    research: ResearchFollow;
    answer: EngineDeps['answer'];
  };
}

const openCalls = (
  { store, log, clock }: Base,
  { outbound, tools, access }: RunsModuleDeps,
  of: { budget: Budget; settled: RecordCallOutcome; begun: RecordOperation },
) => {
  const { vault, permissions } = access;
  const { budget, settled } = of;
  const calls = createStageCalls({
    outbound,
    now: clock.now,
    toolbox: tools.toolbox,
    owner: {
      permissionsOf: permissions.permissionsOf,
      credentialName: async (userId, id) =>
        (await vault.isOwn(userId, id)) ? ((await vault.termOf(id))?.name ?? null) : null,
      folderOf: tools.work.open,
    },
    budget,
    isInDoubt: createInDoubtCheck(store),
  });
  const research = createStageResearch(access.research, of.begun);
  const perform: PerformCall = (stage, signal) =>
    stage.stage.kind === 'research'
      ? research.perform(stage, signal)
      : calls.perform(stage, signal);
  return { calls, research, effects: createEffects({ clock, log, perform, settled }) };
};

const openBeginnings = (
  { store, clock }: Base,
  deps: RunsModuleDeps,
  parts: { budget: Budget; call: BeginStage; nested: NestedDeps },
): BeginDeps => {
  const { hub, outbound, agents, experts, jobs } = deps;
  const { budget, call, nested } = parts;
  const { models } = agents;
  const { queue } = jobs;
  const spawning = { store, clock, hub, models, experts: experts.experts, queue, budget };
  return {
    outbound,
    now: clock.now,
    spawn: createAgentBeginning(spawning),
    call,
    nested: createNestedBeginning(nested),
    foreach: createForeachBeginning(nested),
  };
};

const openFamily = (
  { log, clock }: Base,
  { hub, agents }: RunsModuleDeps,
  parts: {
    runs: RunsStore;
    children: ChildRunsStore;
    inTurn: SerializeByRun;
    isStopping(): boolean;
    engine(): RunEngine;
  },
) => {
  const { runs, children, inTurn, isStopping, engine } = parts;
  const background = createBackgroundWork({ clock, inTurn, log, isStopping });
  const record = {
    runs,
    hub,
    now: clock.now,
    childMoved: (child: PipelineRunRow) => family.moved(child),
  };
  const family = createRunHierarchy({ children, record, background, inTurn, engine });
  const watchAgent = createAgentRest({ hub, rows: agents.rows, record, background });
  return { record, background, family, watchAgent };
};

/** Returns the function that resumes runs of an earlier start. */
const openEnds = (
  { log }: Base,
  { followers }: Agents,
  ends: RecoveryDeps,
): (() => Promise<void>) => {
  followers.afterEnd(({ id }) => {
    settleEndedAgent(ends, id).catch((err) =>
      log.error({ err, agent: id }, 'end of an agent could not be passed to its pipeline'),
    );
  });
  return () => recoverRuns(ends, log);
};

export const openRuns = (base: Base, deps: RunsModuleDeps, template: FindTemplate) => {
  const { store, clock } = base;
  const { agents, outbound } = deps;
  const { answer } = deps.access;
  const runs = runsStore(store);
  const children = { ...childRunsStore(store), ...childRunWrites(store) };
  const inTurn = createRunSerializer();
  const budget = createBudget(store, createRunSerializer());
  const { calls, research, effects } = openCalls(base, deps, {
    budget,
    settled: (of, outcome) => service.callEnded(of, outcome),
    begun: (of, operationId) => service.operationBegun(of, operationId),
  });
  const parts = { runs, children, inTurn, isStopping: effects.isStopping, engine: () => engine };
  const { record, background, family, watchAgent } = openFamily(base, deps, parts);
  const nested = { runs, children, now: clock.now, template, goOn: family.goOn };
  const begin = openBeginnings(base, deps, { budget, call: calls.begin, nested });
  const below = { stopChildren: family.stop, cancelResearch: research.cancel, watchAgent };
  const engine = createEngine({ record, begin, effects, agents, budget, below, answer });
  const beginApproved = createApprovedCalls({ record, effects, budget });
  const verbs = { store, children, clock, engine, record, beginApproved, inTurn };
  const service = createRunService(verbs);
  const made = { isRepeatable: calls.isRepeatable, begin: effects.begin };
  const ends = { engine, record, outbound, agents: agents.rows, calls: made, family, inTurn };

  return {
    runs,
    children,
    begin: family.begin,
    service,
    due: createDueRuns({ runs, clock, engine, inTurn, isRepeatable: calls.isRepeatable }),
    start: openEnds(base, agents, ends),
    stop: (waitMs: number) => effects.stop(waitMs).then(background.drain),
  };
};

export type Runs = ReturnType<typeof openRuns>;
