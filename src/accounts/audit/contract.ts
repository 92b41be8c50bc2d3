import { contract } from '../../kernel/contract/endpoint.js';
import { pageQuery } from '../../kernel/contract/page.js';
import {
  flag,
  id,
  list,
  moment,
  nullable,
  object,
  oneOf,
  optional,
  record,
  type Static,
  text,
  time,
  whole,
} from '../../kernel/contract/schema.js';

const number = () => whole(0, Number.MAX_SAFE_INTEGER);

/**
 * Ours: the number in the chain, and the names, which are looked up and are not part of the chain.
 */
export const AuditEntry = object('AuditEntry', {
  id: id('audit'),
  at: time(),
  actorId: text(80).description('Under impersonation the user who was acted as'),
  impersonatorId: nullable(text(80)),
  action: text(100).example('users.invite'),
  target: nullable(text(400)),
  outcome: oneOf('AuditOutcome', 'ok', 'denied', 'failed'),
  ip: text(100),
  requestId: text(80),
  data: nullable(record('AuditData')),
  number: number().description('Its place in the chain, from 1'),
  actorName: nullable(text(50)),
  impersonatorName: nullable(text(50)),
});
export type AuditEntry = Static<typeof AuditEntry>;

export const AuditVerdict = object('AuditVerdict', {
  ok: flag(),
  entries: number().description('How many were looked at'),
  head: nullable(object('AuditHead', { number: number(), mac: text(64) })),
  problem: nullable(
    object('AuditProblem', {
      number: number().description('The first entry that is not as it was written'),
      kind: oneOf('AuditProblemKind', 'changed', 'missing', 'cut', 'rewritten'),
      message: text(500),
    }),
  ),
});
export type AuditVerdict = Static<typeof AuditVerdict>;

/** Ours: to read or verify the log is recorded in it too. */
export const audit = contract({
  list: {
    method: 'GET',
    path: '/api/admin/audit',
    summary: 'List the audit log',
    access: 'admin',
    audit: 'audit.list',
    query: pageQuery('AuditQuery', {
      actorId: optional(text(80)),
      action: optional(text(100)),
      since: optional(moment()),
      until: optional(moment().description('Entries from before this moment')),
    }),
    reply: object('AuditPage', {
      entries: list(AuditEntry, 200),
      nextCursor: nullable(text(200)),
    }),
  },
  verify: {
    method: 'GET',
    path: '/api/admin/audit/verify',
    summary: 'Hold every entry of the audit log against its chain',
    access: 'admin',
    audit: 'audit.verify',
    reply: AuditVerdict,
  },
});
