import * as s from '../kernel/contract/schema.js';
import {
  defineTool,
  HARMLESS,
  type PendingResult,
  type ToolContext,
  type ToolGroup,
} from './tool.js';

const input = s
  .object('AgentsDelegateInput', {
    prompt: s.optional(
      s.text(100_000).description('Task with all context: the sub-agent sees nothing else'),
    ),
    withTask: s.optional(
      s.boolean().description('Whether to append your own task and its payload'),
    ),
    expert: s.optional(s.text(100).description('Expert that it acts as')),
    model: s.optional(s.text(100).description('Defaults to the model of the expert or your own.')),
    limits: s.optional(
      s
        .object('DelegationLimits', {
          maxSteps: s.optional(s.integer(1, 1000)),
          maxSeconds: s.optional(s.integer(1, 86_400)),
          maxTokens: s.optional(s.integer(1, 100_000_000)),
          maxAnswerTokens: s.optional(s.integer(1, 1_000_000)),
          maxCostUsd: s.optional(s.number(0, 10_000)),
        })
        .description('At most your remaining limits'),
    ),
  })
  .or('prompt', 'withTask');
export type Delegation = s.Static<typeof input>;

export type Delegate = (order: Delegation, context: ToolContext) => Promise<PendingResult>;

/**
 * Without side effects, because a sub-agent can do nothing that its parent cannot, and each of its
 * calls is decided separately.
 */
export const agentsTools = (delegate: Delegate): ToolGroup => ({
  skillId: 'agents',
  description: 'Sub-agents',
  tools: [
    defineTool({
      skillId: 'agents',
      name: 'delegate',
      description:
        'Delegate a part of your task to a sub-agent and get its answer. Calls in one reply run in ' +
        'parallel. Experts: triage, engineer, operations, writer, researcher, analyst, and those of ' +
        'the owner.',
      input,
      ...HARMLESS,
      once: true,
      run: delegate,
    }),
  ],
});
