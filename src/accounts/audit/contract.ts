import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { pageQuery } from '../../kernel/contract/page.js';
import * as s from '../../kernel/contract/schema.js';

const number = () => s.whole(0, Number.MAX_SAFE_INTEGER);

/**
 * Ours: the number in the chain, and the names, which are looked up and are not part of the chain.
 */
export const AuditEntry = s.object('AuditEntry', {
  id: s.id('audit'),
  at: s.time(),
  actorId: s.text(80).description('Under impersonation the user who was acted as'),
  impersonatorId: s.nullable(s.text(80)),
  action: s.text(100).example('users.invite'),
  target: s.nullable(s.text(400)),
  outcome: s.oneOf('AuditOutcome', 'ok', 'denied', 'failed'),
  ip: s.text(100),
  requestId: s.text(80),
  data: s.nullable(s.record('AuditData')),
  number: number().description('Its place in the chain, from 1'),
  actorName: s.nullable(s.text(50)),
  impersonatorName: s.nullable(s.text(50)),
});
export type AuditEntry = s.Static<typeof AuditEntry>;

export const AuditVerdict = s.object('AuditVerdict', {
  ok: s.flag(),
  entries: number().description('How many were looked at'),
  head: s.nullable(s.object('AuditHead', { number: number(), mac: s.text(64) })),
  problem: s.nullable(
    s.object('AuditProblem', {
      number: number().description('The first entry that is not as it was written'),
      kind: s.oneOf('AuditProblemKind', 'changed', 'missing', 'cut', 'rewritten'),
      message: s.text(500),
    }),
  ),
});
export type AuditVerdict = s.Static<typeof AuditVerdict>;

/** Ours: to read or verify the log is recorded in it too. */
export const audit = contract({
  list: endpoint.get('/api/admin/audit', {
    summary: 'List the audit log',
    access: 'admin',
    audit: 'audit.list',
    query: pageQuery('AuditQuery', {
      actorId: s.optional(s.text(80)),
      action: s.optional(s.text(100)),
      since: s.optional(s.moment()),
      until: s.optional(s.moment().description('Entries from before this moment')),
    }),
    reply: s.object('AuditPage', {
      entries: s.list(AuditEntry, 200),
      nextCursor: s.nullable(s.text(200)),
    }),
  }),
  verify: endpoint.get('/api/admin/audit/verify', {
    summary: 'Hold every entry of the audit log against its chain',
    access: 'admin',
    audit: 'audit.verify',
    reply: AuditVerdict,
  }),
});
