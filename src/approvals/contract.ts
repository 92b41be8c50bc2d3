import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';

const status = () => s.oneOf('ApprovalStatus', 'pending', 'approved', 'denied', 'expired');
const scope = () => s.oneOf('ApprovalScope', 'once', 'conversation', 'host');
const digest = () =>
  s
    .text(64)
    .pattern(/^[0-9a-f]{64}$/)
    .messages({ 'string.pattern.base': 'must be 64 hexadecimal digits' });

export const ApprovalReply = s.object('Approval', {
  id: s.id('approval'),
  agentId: s.nullable(s.id('agent')).description('null: a call of yours without an agent'),
  tool: s.text(100).description('Id of the skill'),
  action: s.text(200).description('Name of its tool'),
  arguments: s.record('ApprovalArguments').description('Exactly what is run'),
  digest: digest().description('SHA-256 over agent, tool and arguments'),
  reason: s.text(1000).description('Why it is asked for'),
  untrusted: s.flag().description('The agent has read what came from outside'),
  status: status(),
  createdAt: s.time(),
  expiresAt: s.time().description('Without an answer it is denied then'),
  decidedAt: s.nullable(s.time()),
  decidedBy: s.nullable(s.id('user')),
  decisionReason: s.nullable(s.text(1000)).description('What was said about the answer'),
  scopes: s.list(scope(), 3).description('The scopes that an approval of this call may have'),
});
export type ApprovalReply = s.Static<typeof ApprovalReply>;

export const approvals = contract({
  list: endpoint.get('/api/chat/approvals', {
    summary: 'List what was asked of you',
    query: pageQuery('ApprovalQuery', {
      status: s.optional(status()),
      agentId: s.optional(s.text(80)),
    }),
    reply: pageOf('approvals', ApprovalReply),
  }),
  get: endpoint.get('/api/chat/approvals/{id}', {
    summary: 'Show one call that waits for your approval',
    reply: ApprovalReply,
  }),
  approve: endpoint.post('/api/chat/approve', {
    summary: 'Approve or deny a call exactly as shown; the first answer counts',
    audit: 'approvals.approve',
    example: { approvalId: 'approval_01j9zq4w8k2m6n0p3r5t7v9xyz', approved: true },
    body: s.object('ApprovalAnswer', {
      approvalId: s.text(80),
      approved: s.flag(),
      reason: s.optional(s.reason(1000).description('Told to the agent where it is denied')),
      digest: s.optional(
        digest().description('Of the call that you saw: another is refused (409)'),
      ),
      scope: s.optional(
        scope().description(
          'once, unless given; conversation: this tool and host in this conversation; host: this host, port and method for this hook or conversation, 30 days. One of `scopes` of the approval',
        ),
      ),
    }),
    reply: ApprovalReply,
  }),
});
