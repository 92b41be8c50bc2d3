import * as s from './schema.js';

export const agentAction = {
  agentPrompt: s.optional(
    s
      .anyText(100_000)
      .description(
        'Prompt of the agent. In a hook, the payload is appended to the prompt. Placeholders are not replaced',
      ),
  ),
  agentTopic: s.optional(
    s
      .text(100)
      .description(
        'Topic of the agent. If `agentModel` is not set, the model for the topic is used, or the default model if the topic has none',
      ),
  ),
  agentModel: s.optional(
    s
      .text(200)
      .description(
        'Name of the model. Defaults to the model for the topic, or else the default model',
      ),
  ),
  agentTools: s.optional(
    s.list(s.text(100), 50).description('Tools that the agent may call without approval'),
  ),
  orchestrated: s.optional(
    s
      .boolean()
      .description(
        'Whether an expert is chosen automatically and the agent delegates the prompt to it. Defaults to `false`',
      ),
  ),
  memory: s.optional(
    s.boolean().description('Whether the agent receives your memories. Defaults to `false`'),
  ),
  notifyOwner: s.optional(s.boolean()),
  notifyMessage: s.optional(
    s
      .anyText(20_000)
      .description(
        'Text of the notification. In a hook, placeholders such as `{{webhook.body.title}}` are replaced',
      ),
  ),
};

export const AgentLimits = s.object('AgentLimits', {
  maxSteps: s.integer(1, 1000),
  maxSeconds: s.integer(1, 86_400),
  maxTokens: s.integer(1, 100_000_000),
  maxAnswerTokens: s
    .integer(1, 1_000_000)
    .description('Maximum number of tokens in one model reply, including reasoning'),
  maxCostUsd: s.number(0, 10_000),
  maxDepth: s.integer(0, 10),
  maxAgents: s.integer(1, 100),
});

export const agentStatusSchema = (label: string) =>
  s.oneOf(
    label,
    'queued',
    'running',
    'waiting_approval',
    'paused',
    'completed',
    'failed',
    'stopped',
  );
