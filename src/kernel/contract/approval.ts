import * as s from './schema.js';

/** A reply with 20 attachments has 24. */
const MAX_DETAILS = 30;
export const MAX_DETAIL_LENGTH = 2000;

export const approvalStatus = () =>
  s.oneOf('ApprovalStatus', 'pending', 'approved', 'denied', 'expired');

export const digestSchema = () =>
  s
    .text(64)
    .pattern(/^[0-9a-f]{64}$/)
    .messages({ 'string.pattern.base': 'must be 64 hexadecimal digits' });

/** A schema with a description of its own needs its own label, because labels are unique. */
export const approvalScope = (label = 'ApprovalScope') =>
  s.oneOf(label, 'once', 'conversation', 'host');

export const Approval = s.object('Approval', {
  id: s.id('approval'),
  orgId: s.orgId(),
  agentId: s
    .nullable(s.id('agent'))
    .description('ID of the agent that made the call. `null` if you made the call directly'),
  tool: s.text(100).description('ID of the skill that provides the tool'),
  action: s.text(200).description("Name of the skill's tool"),
  arguments: s
    .record('ApprovalArguments')
    .description('Arguments of the tool call. An approved call runs with exactly these arguments'),
  details: s
    .list(
      s.object('ApprovalDetail', { name: s.text(100), value: s.anyText(MAX_DETAIL_LENGTH) }),
      MAX_DETAILS,
    )
    .description(
      'Facts that the tool adds to the arguments, such as the sender address and the original message of an e-mail. An approved call does not run if they have changed',
    ),
  digest: digestSchema().description('SHA-256 digest of the agent, tool, arguments and details'),
  reason: s.text(1000).description('Reason why the call needs approval'),
  untrusted: s
    .boolean()
    .description(
      'Whether the agent has read content from outside, such as a web page or an e-mail',
    ),
  status: approvalStatus(),
  createdAt: s.time(),
  expiresAt: s.time().description('Time at which the call is denied if nobody has decided'),
  decidedAt: s
    .nullable(s.time())
    .description('Time of the decision. `null` while the approval is pending'),
  decidedBy: s
    .nullable(s.id('user'))
    .description('ID of the user who decided. `null` if nobody has decided'),
  decisionReason: s
    .nullable(s.text(1000))
    .description('Comment on the decision. `null` if there is none'),
  scopes: s
    .list(approvalScope(), 3)
    .label('ApprovalScopes')
    .description('Scopes available when you approve this call'),
});
export type Approval = s.Static<typeof Approval>;
/** Shown beside the arguments. The value may contain external text. */
export type CallDetail = Approval['details'][number];
