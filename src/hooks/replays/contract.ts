import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { failedBy, Operation, OperationPreview } from '../../kernel/contract/operation.js';
import * as s from '../../kernel/contract/schema.js';

const status = () => s.oneOf('FailedStatus', 'error', 'interrupted');

const FailedRunsReplay = s.object('FailedRunsReplay', {
  hookId: s.optional(s.id('hook').description('All your hooks unless given')),
  status: s.optional(s.list(status(), 2).min(1).unique().description('Both unless given')),
  since: s.moment().description('Runs that came about from then on'),
  until: s.optional(s.moment()),
  failedBy: failedBy(),
  force: s.optional(s.flag().description('Repeat effects that may be done, too')),
  dryRun: s.optional(s.flag().description('Only list what would be replayed')),
});
export type FailedRunsReplay = s.Static<typeof FailedRunsReplay>;

export const replays = contract({
  create: endpoint.post('/api/hooks/executions/replay', {
    summary: 'Replay the failed runs of a time, as an operation, or list them first',
    audit: 'hooks.replay',
    example: { since: '2026-01-31T09:00:00.000Z', until: '2026-01-31T11:30:00.000Z' },
    body: FailedRunsReplay,
    reply: Operation,
    status: 202,
    otherReplies: { 200: OperationPreview },
  }),
});
