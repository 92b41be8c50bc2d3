import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { pageQuery } from '../../kernel/contract/page.js';
import * as s from '../../kernel/contract/schema.js';

const number = () => s.integer(0, Number.MAX_SAFE_INTEGER);

export const AuditEntry = s.object('AuditEntry', {
  id: s.id('audit'),
  at: s.time(),
  actorId: s
    .text(80)
    .description(
      'ID of the user who acted, or `daemon` or `operator` (a command while the daemon was stopped). During impersonation, the impersonated user',
    ),
  impersonatorId: s
    .nullable(s.text(80))
    .description('ID of the impersonating admin. `null` outside of impersonation'),
  action: s.text(100).example('users.invite'),
  target: s
    .nullable(s.text(400))
    .description('Object of the action. `null` if the action has none'),
  outcome: s.oneOf('AuditOutcome', 'ok', 'denied', 'failed'),
  ip: s.text(100),
  requestId: s.text(80),
  data: s
    .nullable(s.record('AuditData'))
    .description('Details of the action. `null` if there are none'),
  number: number().description('Position in the chain, starting at 1'),
  actorName: s
    .nullable(s.text(50))
    .description('Username of the user who acted. `null` if there is no such user'),
  impersonatorName: s
    .nullable(s.text(50))
    .description('Username of the impersonating admin. `null` outside of impersonation'),
});
export type AuditEntry = s.Static<typeof AuditEntry>;

export const AuditVerdict = s.object('AuditVerdict', {
  ok: s.boolean(),
  entries: number().description('Number of entries checked'),
  head: s
    .nullable(s.object('AuditHead', { number: number(), mac: s.text(64) }))
    .description('Newest entry of the audit log. `null` if the log has no entries'),
  problem: s
    .nullable(
      s.object('AuditProblem', {
        number: number().description('Number of the first invalid or missing entry'),
        kind: s.oneOf('AuditProblemKind', 'changed', 'missing', 'cut', 'rewritten'),
        message: s.text(500),
      }),
    )
    .description('First invalid or missing entry. `null` if the log is valid'),
});
export type AuditVerdict = s.Static<typeof AuditVerdict>;

const AuditPage = s.object('AuditPage', {
  entries: s.list(AuditEntry, 200),
  nextCursor: s
    .nullable(s.text(200))
    .description('Value of `cursor` for the next page. `null` on the last page'),
});

// Reading and verifying the log are recorded in it as well.
export const audit = contract({
  list: endpoint.get('/api/admin/audit', {
    summary: 'List audit log entries',
    access: 'admin',
    audit: 'audit.list',
    query: pageQuery('AuditQuery', {
      actorId: s.optional(s.text(80)),
      action: s.optional(s.text(100)),
      since: s.optional(s.moment().description('Start of the time range, inclusive')),
      until: s.optional(s.moment().description('End of the time range, exclusive')),
    }),
    reply: AuditPage,
  }),
  verify: endpoint.get('/api/admin/audit/verify', {
    summary: 'Verify the audit log',
    maxReplyMs: 600_000,
    description:
      'Checks the MAC chain of all entries, and compares the chain with the stored heads.',
    access: 'admin',
    audit: 'audit.verify',
    reply: AuditVerdict,
  }),
  org: endpoint.get('/api/orgs/{id}/audit', {
    summary: 'List audit log entries of an organization',
    description: 'Requires the role `owner` or `admin` in the organization.',
    query: pageQuery('OrgAuditQuery', {}),
    reply: AuditPage,
  }),
});
