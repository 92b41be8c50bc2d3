import { contract } from '../../kernel/contract/endpoint.js';
import {
  anyText,
  list,
  nullable,
  object,
  oneOf,
  type Static,
  text,
  time,
} from '../../kernel/contract/schema.js';

const Finding = object('Finding', {
  name: text(60),
  status: oneOf('FindingStatus', 'ok', 'warn', 'fail'),
  detail: anyText(1000),
  remedy: nullable(text(500).description('What to do about it; null where nothing is to be done')),
});
export type Finding = Static<typeof Finding>;

export const doctor = contract({
  look: {
    method: 'GET',
    path: '/api/admin/doctor',
    summary: 'What is wrong with the daemon and its home, and what to do about it',
    access: 'admin',
    audit: 'doctor.look',
    reply: object('Findings', { at: time(), findings: list(Finding, 100) }),
  },
});
