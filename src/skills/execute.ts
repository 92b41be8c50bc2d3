import Boom from '@hapi/boom';
import { type Approval, NoApproval, NotOpen, OtherDigest } from '../approvals/approval.js';
import type { Admit } from '../approvals/directcall.js';
import { type Caller, CustomReply } from '../kernel/contract/endpoint.js';
import { type Tool, ToolFailed, ToolRefused } from '../tools/tool.js';

export interface ExecuteDeps {
  approvals: { admit: Admit };
  folderOf(userId: string, name: string): Promise<string>;
}

export interface ExecuteInput {
  tool: Tool;
  arguments: Record<string, unknown>;
  approvalId?: string;
}

/** Ours: the folder for a user's direct calls, which have no agent. */
const FOLDER = 'direct';

/** Runs a tool for its user. If the call needs an approval, returns 202 with the approval. */
export const execute = async (
  deps: ExecuteDeps,
  call: ExecuteInput,
  by: Caller,
): Promise<{ result: NonNullable<unknown> | null } | CustomReply<{ approval: Approval }>> => {
  const { tool, arguments: args } = call;
  const admission = await deps.approvals.admit({ userId: by.userId, ...call }).catch(notAdmitted);
  if (admission.verdict === 'deny') throw Boom.forbidden(sentence(admission.because), DENIED);
  if (admission.verdict === 'ask') return new CustomReply(202, { approval: admission.approval });
  const context = {
    userId: by.userId,
    agentId: null,
    executionId: null,
    folder: await deps.folderOf(by.userId, FOLDER),
    signal: by.signal,
    effectId: by.requestId,
    ...(call.approvalId !== undefined && { isApproved: true as const }),
  };
  const result = await tool.run(args, context).catch((error: unknown) => {
    if (by.signal.aborted) throw Boom.badRequest('The call was broken off');
    throw failureOf(error);
  });
  return { result: result ?? null };
};

const DENIED = { code: 'tool_denied' };

const notAdmitted = (error: unknown): never => {
  if (error instanceof NoApproval) throw Boom.notFound(error.message);
  if (error instanceof NotOpen) throw Boom.conflict(error.message, { code: 'approval_not_open' });
  if (error instanceof OtherDigest) throw Boom.conflict(error.message, { code: 'other_digest' });
  throw error;
};

/**
 * Turns an error of a tool into an HTTP error. Ours: 424 if the tool failed. A 5xx would say that
 * the daemon failed, and a client would retry the call, whatever it had done.
 */
const failureOf = (error: unknown): unknown => {
  if (error instanceof ToolFailed) {
    return Boom.failedDependency(error.message, { code: 'tool_failed' });
  }
  if (!(error instanceof ToolRefused)) return error;
  if (!error.details) return Boom.conflict(error.message, { code: 'tool_unavailable' });
  const details = error.details.map(({ path, message }) => ({
    path: ['arguments', path].filter(Boolean).join('.'),
    message,
  }));
  return Boom.badRequest(`Not accepted: ${error.message}`, { details });
};

const sentence = (because: string): string => because.charAt(0).toUpperCase() + because.slice(1);
