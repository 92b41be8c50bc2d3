import { contract } from '../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../kernel/contract/page.js';
import {
  flag,
  id,
  nullable,
  object,
  oneOf,
  optional,
  reason,
  record,
  type Static,
  text,
  time,
} from '../kernel/contract/schema.js';

const status = () => oneOf('ApprovalStatus', 'pending', 'approved', 'denied', 'expired');
const digest = () =>
  text(64)
    .pattern(/^[0-9a-f]{64}$/)
    .messages({ 'string.pattern.base': 'must be 64 hexadecimal digits' });

export const ApprovalReply = object('Approval', {
  id: id('approval'),
  agentId: nullable(id('agent')).description('null: a call of yours without an agent'),
  tool: text(100).description('Id of the skill'),
  action: text(200).description('Name of its tool'),
  arguments: record('ApprovalArguments').description('Exactly what is run'),
  digest: digest().description('SHA-256 over agent, tool and arguments'),
  reason: text(1000).description('Why it is asked for'),
  untrusted: flag().description('The agent has read what came from outside'),
  status: status(),
  createdAt: time(),
  expiresAt: time().description('Without an answer it is denied then'),
  decidedAt: nullable(time()),
  decidedBy: nullable(id('user')),
  decisionReason: nullable(text(1000)).description('What was said about the answer'),
});
export type ApprovalReply = Static<typeof ApprovalReply>;

export const approvals = contract({
  list: {
    method: 'GET',
    path: '/api/chat/approvals',
    summary: 'List what was asked of you',
    query: pageQuery('ApprovalQuery', { status: optional(status()), agentId: optional(text(80)) }),
    reply: pageOf('approvals', ApprovalReply),
  },
  get: {
    method: 'GET',
    path: '/api/chat/approvals/{id}',
    summary: 'Show one call that waits for your word',
    reply: ApprovalReply,
  },
  approve: {
    method: 'POST',
    path: '/api/chat/approve',
    summary: 'Approve or deny a call, once and exactly as shown; the first answer counts',
    audit: 'approvals.approve',
    example: { approvalId: 'approval_01j9zq4w8k2m6n0p3r5t7v9xyz', approved: true },
    body: object('ApprovalAnswer', {
      approvalId: text(80),
      approved: flag(),
      reason: optional(reason(1000).description('Told to the agent where it is denied')),
      digest: optional(digest().description('Of the call that you saw: another is refused (409)')),
    }),
    reply: ApprovalReply,
  },
});
