import * as s from './schema.js';

const count = () => s.integer(0, Number.MAX_SAFE_INTEGER);

export const operationStatus = () =>
  s.oneOf(
    'OperationStatus',
    'queued',
    'running',
    'completed',
    'failed',
    'cancelled',
    'interrupted',
  );

export const operationFields = () => ({
  id: s.id('operation'),
  orgId: s.orgId(),
  kind: s.text(100).example('hooks.replay'),
  resource: s
    .object('OperationResource', { kind: s.text(100), id: s.text(200) })
    .description(
      'Object that the operation works on, such as a document. Kind `user`: the operation works on several objects, and `id` is the ID of its owner',
    ),
  title: s.text(500),
  status: operationStatus(),
  progress: s
    .nullable(
      s.object('OperationProgress', {
        done: count(),
        total: s
          .nullable(count())
          .description('Total amount, in `unit`. `null` while the amount is unknown'),
        unit: s.text(40).description('Unit of `done` and `total`, such as `runs` or `bytes`'),
        note: s.nullable(s.anyText(500)).description('Current step. `null` if there is none'),
        retry: s.optional(
          s
            .object('OperationRetry', {
              attempt: s.integer(2, 1000).description('Number of the next attempt'),
              of: s.integer(2, 1000).description('Maximum number of consecutive attempts'),
              nextAt: s.time(),
              reason: s.anyText(500).description('Error of the last attempt'),
            })
            .description('Pending retry. Absent unless the operation waits to try again'),
        ),
      }),
    )
    .description('Progress of the operation. `null` if the operation reports no progress'),
  result: s
    .nullable(s.record('OperationResult'))
    .description(
      'Result of the operation. The fields depend on `kind`. `null` until the operation ends, and if it has no result',
    ),
  error: s.nullable(s.anyText(10_000)).description('Error message. `null` without an error'),
  createdAt: s.time(),
  startedAt: s.nullable(s.time()).description('Start time. `null` if not started yet'),
  finishedAt: s.nullable(s.time()).description('End time. `null` if not ended yet'),
});

export const Operation = s.object('Operation', operationFields());
export type Operation = s.Static<typeof Operation>;

export const failedByField = () =>
  s
    .optional(s.moment())
    .description(
      'Latest time of failure to include, such as `listedAt` of a dry run. Defaults to now',
    );

const part = {
  count: count().description('Number of executions, messages or deliveries to process'),
  skipped: count(),
  oldest: s
    .nullable(s.time())
    .description(
      'Creation time of the oldest execution, message or delivery to process. `null` if there is none',
    ),
  newest: s
    .nullable(s.time())
    .description(
      'Creation time of the newest execution, message or delivery to process. `null` if there is none',
    ),
};

export const OperationPreview = s.object('OperationPreview', {
  ...part,
  listedAt: s
    .time()
    .description(
      'Time of this preview. Pass this time as `failedBy` to exclude items that fail later',
    ),
  reasons: s
    .record('SkipReasons')
    .description('Number of skipped executions, messages or deliveries, by reason'),
  parts: s
    .list(s.object('PreviewedPart', { id: s.text(200), name: s.text(400), ...part }))
    .description(
      'Number of executions per hook, deliveries per outgoing webhook, or messages per channel. Sorted by `oldest`, earliest first',
    ),
  items: s
    .list(
      s.object('PreviewedItem', {
        id: s.text(80),
        partId: s.text(200),
        status: s.text(40),
        error: s.nullable(s.anyText(1000)).description('Error message. `null` without an error'),
        skipped: s
          .nullable(s.text(100))
          .description('Reason why the item is skipped. `null` if the item would be processed'),
        createdAt: s.time(),
      }),
    )
    .description(
      'First 20 executions, messages or deliveries, oldest first. Includes those that would be skipped',
    ),
});
export type OperationPreview = s.Static<typeof OperationPreview>;
