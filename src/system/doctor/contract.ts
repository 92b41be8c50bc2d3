import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import * as s from '../../kernel/contract/schema.js';

const Finding = s.object('Finding', {
  name: s.text(60),
  status: s.oneOf('FindingStatus', 'ok', 'warn', 'fail'),
  detail: s.anyText(1000),
  remedy: s.nullable(
    s.text(500).description('What to do about it; null where nothing is to be done'),
  ),
});
export type Finding = s.Static<typeof Finding>;

export const doctor = contract({
  look: endpoint.get('/api/admin/doctor', {
    summary: 'What is wrong with the daemon and its home, and what to do about it',
    access: 'admin',
    audit: 'doctor.look',
    auditMayFail: true,
    reply: s.object('Findings', { at: s.time(), findings: s.list(Finding, 100) }),
  }),
});
