import {
  Approval,
  approvalScope,
  approvalStatus,
  digestSchema,
} from '../kernel/contract/approval.js';
import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { createPageSchema, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';

export const approvals = contract({
  list: endpoint.get('/api/chat/approvals', {
    shared: 'admin',
    summary: 'List pending and decided approvals of tool calls',
    query: pageQuery('ApprovalQuery', {
      status: s.optional(approvalStatus()),
      agentId: s.optional(s.text(80)),
    }),
    reply: createPageSchema('approvals', Approval),
  }),
  get: endpoint.get('/api/chat/approvals/{id}', {
    shared: 'admin',
    summary: 'Get the approval of a tool call',
    reply: Approval,
  }),
  approve: endpoint.post('/api/chat/approve', {
    shared: 'admin',
    sharedBy: 'approvalId',
    summary: 'Approve or deny a tool call',
    description:
      'Only the first decision counts. An approved call runs with exactly the shown arguments.',
    audit: 'approvals.approve',
    example: { approvalId: 'approval_01j9zq4w8k2m6n0p3r5t7v9xyz', approved: true },
    body: s.object('ApprovalAnswer', {
      approvalId: s.text(80),
      approved: s.boolean().description('Whether to approve the call. `false` denies it'),
      reason: s.optional(
        s
          .reason(1000)
          .description('Reason for the decision. The agent receives the reason of a denial'),
      ),
      digest: s.optional(
        digestSchema().description(
          'Digest of the call that you reviewed. A different digest is refused with 409',
        ),
      ),
      scope: s.optional(
        approvalScope('ApprovalScopeChoice').description(
          'Scope of the approval: one of the `scopes` of the approval. Defaults to `once`, this call only. `conversation` covers the same tool and host in this conversation. `host` covers the same tool, host, port and method for this hook or conversation. `conversation` and `host` expire after 30 days',
        ),
      ),
    }),
    reply: Approval,
  }),
});
