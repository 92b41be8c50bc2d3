import type { Approvals } from '../approvals/module.js';
import type { Base } from '../base.js';
import type { Experts } from '../experts/module.js';
import type { Jobs } from '../jobs/module.js';
import type { ModelsModule } from '../models/module.js';
import type { Outbound } from '../outbound/module.js';
import type { Permissions } from '../permissions/module.js';
import type { Hub } from '../realtime/module.js';
import type { Skills } from '../skills/module.js';
import type { Tools } from '../tools/module.js';
import { JOB } from './agent.js';
import { settleLeftoverReservations } from './budget.js';
import { chatResource } from './chat/routes.js';
import { createChat } from './chat.js';
import { createControl } from './control.js';
import { createDelegate } from './delegate.js';
import { createFollowers } from './followers.js';
import { createGrantedUseCheck } from './granteduse.js';
import { createLoop } from './loop.js';
import { createModels } from './models.js';
import { createNotify } from './notifytool.js';
import { agentsResource } from './routes.js';
import { agentRows } from './rows.js';
import type { Recall } from './run.js';
import { createToolset, personaToolFilter } from './toolset.js';
import { createUserCalls } from './usercalls.js';
import { createEmbedderSource } from './userembedder.js';
import { createSpeechModels } from './userspeech.js';
import { findWaitingAgent } from './waitforapproval.js';

export { MODEL_GRANTS } from './admission.js';
export {
  type AgentLimits,
  JOB,
  SessionBusy,
  SessionNotFound,
  UNFINISHED,
  webhookPrompt,
} from './agent.js';
export { readDailyLimits } from './budget.js';
export type { Chat } from './chat.js';
export type { AgentControl } from './control.js';
export { appendNote } from './end.js';
export type { AgentOutcome, ExecutionEnd, Executions, FollowUp } from './followers.js';
export type { ModelState, Models } from './models.js';
export type { DayCaps } from './procedures/spending.js';
export { agentFaults, findNamedExpert } from './routes.js';
export type { AgentRows } from './rows.js';
export { type SpawnRequest, spawnRecord } from './spawn.js';
export { taint } from './taint.js';
export type { DeltaSockets } from './textdeltas.js';
export type { UserCalls } from './usercalls.js';
export {
  type SpeechModel,
  type SpeechModels,
  TranscriptionFailed,
} from './userspeech.js';

export interface AgentsModuleDeps {
  hub: Hub;
  jobs: Jobs;
  tools: Tools;
  outbound: Outbound;
  models: ModelsModule;
  approvals: Approvals;
  experts: Experts;
}

interface LoopModuleDeps {
  skills: Skills;
  recall: Recall;
  /** Default daily cost limit for all agents of a user. */
  dailyCostUsd: number;
}

export const openAgents = (base: Base, deps: AgentsModuleDeps) => {
  const { store, clock, log } = base;
  const { hub, tools, outbound, approvals, experts } = deps;
  const { queue } = deps.jobs;
  const { outbox } = outbound;
  const rows = agentRows(store);
  const models = createModels(deps.models.registry, deps.models.health);
  const followers = createFollowers();
  const control = createControl({
    store,
    clock,
    hub,
    rows,
    queue,
    outbound,
    followers,
    removeFolder: ({ user_id, id }) => tools.work.remove(user_id, id),
  });
  const chat = createChat({ rows, control, models, approvals });
  const useRefusal = createGrantedUseCheck({ store, clock });
  approvals.findAgents(findWaitingAgent({ store, clock, hub, rows, queue }));
  tools.handle({
    notify: createNotify({ store, clock, outbox }),
    delegate: createDelegate({ store, clock, hub, rows, models, experts, queue }),
  });
  return {
    rows,
    control,
    models,
    chat,
    deltas: control.live.deltas,
    useRefusal,
    /** Modules that follow the life of agents. */
    followers,
    userCalls: (dailyCostUsd: number) => createUserCalls({ store, clock, models, dailyCostUsd }),
    embedders: (dailyCostUsd: number) =>
      createEmbedderSource({
        store,
        clock,
        registry: deps.models.registry,
        health: deps.models.health,
        dailyCostUsd,
      }),
    speechModels: (dailyCostUsd: number) =>
      createSpeechModels({
        store,
        clock,
        registry: deps.models.registry,
        health: deps.models.health,
        dailyCostUsd,
      }),
    run: ({ skills, recall, dailyCostUsd }: LoopModuleDeps): void => {
      const loop = createLoop({
        store,
        clock,
        log,
        hub,
        rows,
        queue,
        outbound,
        followers,
        live: control.live,
        access: {
          models,
          experts,
          grants: approvals.grants,
          recall,
          toolsOf: async (agent, permissions) => {
            await skills.keepFresh();
            const suits = personaToolFilter(agent, skills.servers.all());
            return createToolset(tools.toolbox.of(agent.user_id), permissions, suits);
          },
          folderOf: ({ user_id, id }) => tools.work.open(user_id, id),
          dailyCostUsd,
        },
      });
      queue.handle(JOB, loop);
    },
    /** Settles reservations of calls that ran when the daemon was killed. */
    load: () => settleLeftoverReservations({ store, clock }),
    resources: ({ grants }: Permissions) => ({
      agents: agentsResource({
        rows,
        control,
        approvals,
        hub,
        choices: { models, experts, grants, toolbox: tools.toolbox },
        refuseUse: useRefusal(grants),
      }),
      chat: chatResource({
        rows,
        clock,
        hub,
        deltas: control.live.deltas,
        models,
        experts,
        say: chat,
        refuseUse: useRefusal(grants),
      }),
    }),
  };
};

export type Agents = ReturnType<typeof openAgents>;
