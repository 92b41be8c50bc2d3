import {
  Approval,
  approvalScope,
  approvalStatus,
  digestSchema,
} from '../kernel/contract/approval.js';
import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';

export const approvals = contract({
  list: endpoint.get('/api/chat/approvals', {
    summary: 'List what was asked of you',
    query: pageQuery('ApprovalQuery', {
      status: s.optional(approvalStatus()),
      agentId: s.optional(s.text(80)),
    }),
    reply: pageOf('approvals', Approval),
  }),
  get: endpoint.get('/api/chat/approvals/{id}', {
    summary: 'Show one call that waits for your approval',
    reply: Approval,
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
        digestSchema().description('Of the call that you saw: another is refused (409)'),
      ),
      scope: s.optional(
        approvalScope('ApprovalScopeChoice').description(
          'once, unless given; conversation: this tool and host in this conversation; host: this host, port and method for this hook or conversation, 30 days. One of `scopes` of the approval',
        ),
      ),
    }),
    reply: Approval,
  }),
});
