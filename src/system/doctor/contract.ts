import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import * as s from '../../kernel/contract/schema.js';

const Finding = s.object('Finding', {
  name: s.text(60),
  status: s.oneOf('FindingStatus', 'ok', 'warn', 'fail'),
  detail: s.anyText(1000),
  remedy: s.nullable(s.text(500).description('Recommended action. `null` if none is needed')),
});
export type Finding = s.Static<typeof Finding>;

export const doctor = contract({
  look: endpoint.get('/api/admin/doctor', {
    summary: 'Get diagnostic findings',
    description: 'Runs all checks of the daemon and its home folder.',
    access: 'admin',
    audit: 'doctor.look',
    auditMayFail: true,
    reply: s.object('Findings', { at: s.time(), findings: s.list(Finding, 100) }),
  }),
});
