import * as s from '../kernel/contract/schema.js';
import { defineTool, HARMLESS, type Pending, type ToolContext, type ToolGroup } from './tool.js';

const input = s
  .object('AgentsDelegateInput', {
    prompt: s.optional(
      s.text(100_000).description('What the sub-agent is to do; it knows nothing but what you say'),
    ),
    withTask: s.optional(
      s.flag().description('Hands on your own task word for word, its payload included'),
    ),
    expert: s.optional(s.text(100).description('Name of the expert whose part it plays')),
    model: s.optional(s.text(100).description('Name of the model that is to do it')),
    limits: s.optional(
      s
        .object('DelegationLimits', {
          maxSteps: s.optional(s.whole(1, 1000)),
          maxSeconds: s.optional(s.whole(1, 86_400)),
          maxTokens: s.optional(s.whole(1, 100_000_000)),
          maxAnswerTokens: s.optional(s.whole(1, 1_000_000)),
          maxCostUsd: s.optional(s.amount(0, 10_000)),
        })
        .description('What it may use up at most; never more than you have left'),
    ),
  })
  .or('prompt', 'withTask');
export type Delegation = s.Static<typeof input>;

/** Starts a sub-agent for the calling agent. Throws ToolRefused. */
export type Delegate = (order: Delegation, context: ToolContext) => Promise<Pending>;

/**
 * Creates the tools for sub-agents. Ours: they count as free of side effects, since a sub-agent can
 * do nothing that its parent cannot. It has the same permissions and grants and at most the
 * parent's trust, and each of its calls is judged on its own.
 */
export const agentsTools = (delegate: Delegate): ToolGroup => ({
  skillId: 'agents',
  description: 'Sub-agents',
  tools: [
    defineTool({
      skillId: 'agents',
      name: 'delegate',
      description:
        'Gives a part of the task to a sub-agent and returns its answer. Calls made together run side by side. Experts: triage, engineer, operations, writer, researcher, analyst, and those of the owner.',
      input,
      ...HARMLESS,
      once: true,
      run: delegate,
    }),
  ],
});
