import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { failedByField, Operation, OperationPreview } from '../../kernel/contract/operation.js';
import * as s from '../../kernel/contract/schema.js';

const status = () => s.oneOf('FailedStatus', 'error', 'interrupted');

const FailedRunsReplay = s.object('FailedRunsReplay', {
  hookId: s.optional(
    s.id('hook').description('ID of the hook whose executions to replay. Defaults to all hooks'),
  ),
  status: s.optional(
    s
      .list(status(), 2)
      .min(1)
      .unique()
      .description(
        'Statuses of the executions to replay. Defaults to both, `error` and `interrupted`',
      ),
  ),
  since: s.moment().description('Earliest creation time of the executions'),
  until: s.optional(s.moment().description('Latest creation time of the executions')),
  failedBy: failedByField(),
  force: s.optional(
    s
      .boolean()
      .description(
        'Whether to replay executions whose action may already have run. Defaults to `false`',
      ),
  ),
  dryRun: s.optional(
    s.boolean().description('Whether to list the executions without a replay. Defaults to `false`'),
  ),
});
export type FailedRunsReplay = s.Static<typeof FailedRunsReplay>;

export const replays = contract({
  create: endpoint.post('/api/hooks/executions/replay', {
    shared: 'admin',
    summary: 'Replay failed executions',
    description:
      'Starts an operation that replays the executions. With `dryRun`, the reply lists the executions, and no execution is replayed.',
    audit: 'hooks.replay',
    example: { since: '2026-01-31T09:00:00.000Z', until: '2026-01-31T11:30:00.000Z' },
    body: FailedRunsReplay,
    reply: Operation,
    status: 202,
    otherReplies: { 200: OperationPreview },
  }),
});
