import * as s from './schema.js';

/** The fields of an action that spawns an agent or notifies its owner. */
export const agentAction = {
  agentPrompt: s.optional(s.anyText(100_000)),
  agentTopic: s.optional(s.text(100)),
  agentModel: s.optional(s.text(200)),
  agentTools: s.optional(s.list(s.text(100), 50).description('Tools it may use without asking')),
  orchestrated: s.optional(s.flag()),
  memory: s.optional(s.flag().description('Its agents are given your memories')),
  notifyOwner: s.optional(s.flag()),
  notifyMessage: s.optional(s.anyText(20_000)),
};

/** The most that an agent may use up. */
export const AgentLimits = s.object('AgentLimits', {
  maxSteps: s.whole(1, 1000),
  maxSeconds: s.whole(1, 86_400),
  maxTokens: s.whole(1, 100_000_000),
  maxAnswerTokens: s
    .whole(1, 1_000_000)
    .description('Of one answer of a model, reasoning included'),
  maxCostUsd: s.amount(0, 10_000),
  maxDepth: s.whole(0, 10),
  maxAgents: s.whole(1, 100),
});
