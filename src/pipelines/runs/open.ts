import type { Agents } from '../../agents/module.js';
import type { Base } from '../../base.js';
import type { Experts } from '../../experts/module.js';
import type { Jobs } from '../../jobs/module.js';
import type { Outbound } from '../../outbound/module.js';
import type { Permissions } from '../../permissions/module.js';
import type { Hub } from '../../realtime/module.js';
import type { Tools } from '../../tools/module.js';
import type { Vault } from '../../vault/module.js';
import { createAgentBeginning } from './agentstage.js';
import { createStageCalls } from './calls.js';
import { createDueRuns } from './clock.js';
import { type CallSettled, createEffects } from './effects.js';
import { createEngine } from './engine.js';
import { runsStore } from './queries.js';
import { recoverRuns, settleEndedAgent } from './recovery.js';
import { createRunService } from './service.js';
import { createTurnsOfRuns } from './turns.js';

export interface RunsModuleDeps {
  hub: Hub;
  jobs: Jobs;
  outbound: Outbound;
  agents: Agents;
  experts: { experts: Experts };
  tools: Tools;
  /** The tools and credentials that stages may use. */
  access: { permissions: Permissions; vault: Vault };
}

/** Opens the calls of tools that stages make. */
const openCalls = ({ log, clock: { now } }: Base, deps: RunsModuleDeps, settled: CallSettled) => {
  const { outbound, tools, access } = deps;
  const { vault, permissions } = access;
  const calls = createStageCalls({
    outbound,
    now,
    toolbox: tools.toolbox,
    permissionsOf: permissions.permissionsOf,
    credentialName: async (userId, id) =>
      (await vault.isOwn(userId, id)) ? ((await vault.termOf(id))?.name ?? null) : null,
    folderOf: tools.work.open,
  });
  return { calls, effects: createEffects({ log, perform: calls.perform, settled }) };
};

/** Opens the runs of pipelines. */
export const openRuns = (base: Base, deps: RunsModuleDeps) => {
  const { store, clock, log } = base;
  const { hub, outbound, agents, experts } = deps;
  const { now } = clock;
  const runs = runsStore(store);
  const inTurn = createTurnsOfRuns();
  const record = { runs, hub, now };
  const { calls, effects } = openCalls(base, deps, (of, outcome) => service.callEnded(of, outcome));
  const { models, rows, control } = agents;
  const { queue } = deps.jobs;
  const spawning = { store, clock, hub, models, experts: experts.experts, queue };
  const begin = { outbound, now, spawn: createAgentBeginning(spawning), call: calls.begin };
  const engine = createEngine({
    runs,
    record,
    outbound,
    begin,
    effects,
    agents: { rows, control },
  });
  const service = createRunService({ runs, clock, engine, record, call: effects.begin, inTurn });
  const recorded = { isRepeatable: calls.isRepeatable, begin: effects.begin };
  const ends = { runs, engine, record, outbound, agents: rows, calls: recorded, inTurn };
  agents.followers.afterEnd(({ id }) => {
    settleEndedAgent(ends, id).catch((err) =>
      log.error({ err, agent: id }, 'the end of an agent did not reach its pipeline'),
    );
  });

  return {
    runs,
    service,
    due: createDueRuns({ runs, clock, engine, inTurn }),
    start: () => recoverRuns(ends, log),
    stop: effects.stop,
  };
};
