import * as s from './schema.js';

export const approvalStatus = () =>
  s.oneOf('ApprovalStatus', 'pending', 'approved', 'denied', 'expired');

/** The schema of the digest of a call or of a definition: 64 hexadecimal digits. */
export const digestSchema = () =>
  s
    .text(64)
    .pattern(/^[0-9a-f]{64}$/)
    .messages({ 'string.pattern.base': 'must be 64 hexadecimal digits' });

/** A scope of an approval. The label names the schema: one with its own description is another. */
export const approvalScope = (label = 'ApprovalScope') =>
  s.oneOf(label, 'once', 'conversation', 'host');

/** The schema of a call that waits for its owner's approval, or waited for it. */
export const Approval = s.object('Approval', {
  id: s.id('approval'),
  agentId: s.nullable(s.id('agent')).description('null: a call of yours without an agent'),
  tool: s.text(100).description('Id of the skill'),
  action: s.text(200).description('Name of its tool'),
  arguments: s.record('ApprovalArguments').description('Exactly what is run'),
  digest: digestSchema().description('SHA-256 over agent, tool and arguments'),
  reason: s.text(1000).description('Why it is asked for'),
  untrusted: s.flag().description('The agent has read what came from outside'),
  status: approvalStatus(),
  createdAt: s.time(),
  expiresAt: s.time().description('Without an answer it is denied then'),
  decidedAt: s.nullable(s.time()),
  decidedBy: s.nullable(s.id('user')),
  decisionReason: s.nullable(s.text(1000)).description('What was said about the answer'),
  scopes: s
    .list(approvalScope(), 3)
    .label('ApprovalScopes')
    .description('The scopes that an approval of this call may have'),
});
export type Approval = s.Static<typeof Approval>;
