import { type AgentOutcome, appendNote, type FollowUp } from '../agents/module.js';
import type { Clock } from '../kernel/clock.js';
import {
  addOutboundMessage,
  getMessageLane,
  type NewOutboundMessage,
  REPLY,
} from '../outbound/module.js';
import { digest, isDigest } from '../providers/llm/digest.js';
import type { Statement } from '../store/engine/protocol.js';
import type { Store } from '../store/store.js';
import type { AgentRow } from '../store/tables/agents.js';
import type { Evaluator } from './evaluate.js';
import { openedHook } from './hook.js';
import type { Directory } from './inbound/receivinghooks.js';
import type { ReplyContent } from './replytransport.js';
import { countRunHops, loadRun } from './run.js';

export interface AnswerDeps {
  store: Store;
  clock: Clock;
  directory: Pick<Directory, 'byId'>;
  evaluate: Pick<Evaluator, 'replyTarget'>;
  outgoing: { added(lane: string): void };
}

const NONE: FollowUp = { statements: [], committed: () => undefined };
/** The digest quotes the payload and the prompt, which are not meant for everybody. */
const NO_MODEL =
  'No language model answered, and the digest of the payload is not posted. Set up a model: adjutant models recommend --install';
/** In characters; more than any platform shows. */
const MAX_LENGTH = 200_000;

/**
 * For the transaction that ends what the execution started. The reply is stored once per execution;
 * without an object that accepts it, it is stored as failed.
 */
export const createAnswers = (deps: AnswerDeps) => {
  const answer = async (executionId: string | null, text: string): Promise<FollowUp> => {
    const run = executionId === null ? null : await loadRun(deps.store, executionId);
    const { reply, agentModel } = run?.hook.actionConfig ?? {};
    if (!run || !reply || run.delivery === null) return NONE;
    const target =
      isDigest(text) && agentModel !== digest.name
        ? { fault: NO_MODEL }
        : await deps.evaluate.replyTarget(run);
    const isFound = !('fault' in target);
    const content: ReplyContent = {
      preset: reply.preset,
      target: isFound ? target : null,
      text: text.slice(0, MAX_LENGTH),
      executionId: run.execution.id,
    };
    const message: NewOutboundMessage = {
      userId: run.hook.userId,
      target: { hookId: run.hook.id, object: isFound ? target.object : null },
      causeId: run.execution.id,
      kind: REPLY,
      content,
      hops: countRunHops(run),
      ...(!isFound && { error: target.fault }),
    };
    const statements: Statement[] = addOutboundMessage(deps, message);
    return { statements, committed: () => isFound && deps.outgoing.added(getMessageLane(message)) };
  };

  const mayReply = (hookId: string | null): boolean => {
    const row = hookId === null ? null : deps.directory.byId(hookId)?.row;
    return row != null && openedHook(row).actionConfig.reply !== undefined;
  };

  return {
    answer,
    ofAgent: async (agent: AgentRow, outcome: AgentOutcome): Promise<FollowUp> =>
      outcome.status === 'completed' && agent.parent_id === null && mayReply(agent.hook_id)
        ? answer(agent.execution_id, appendNote(outcome))
        : NONE,
  };
};

export type Answers = ReturnType<typeof createAnswers>;
