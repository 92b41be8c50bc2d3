import * as s from './schema.js';

const count = () => s.whole(0, Number.MAX_SAFE_INTEGER);

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

/** Returns the fields of an operation, for replies that hold more. */
export const operationFields = () => ({
  id: s.id('operation'),
  kind: s.text(100).example('hooks.replay'),
  resource: s
    .object('OperationResource', { kind: s.text(100), id: s.text(200) })
    .description('What it is about; `user` for all that is yours'),
  title: s.text(500),
  status: operationStatus(),
  progress: s.nullable(
    s.object('OperationProgress', {
      done: count(),
      total: s.nullable(count()).description('null: not known yet'),
      unit: s.text(40).description('What is counted: `runs`, `bytes`'),
      note: s.nullable(s.anyText(500)),
      retry: s.optional(
        s
          .object('OperationRetry', {
            attempt: s.whole(2, 1000).description('The number of the try that comes next'),
            of: s.whole(2, 1000).description('So many tries in a row there are at most'),
            nextAt: s.time(),
            reason: s.anyText(500).description('Why the last try ended'),
          })
          .description('While it waits to try again'),
      ),
    }),
  ),
  result: s.nullable(s.record('OperationResult')).description('What came of it, by its kind'),
  error: s.nullable(s.anyText(10_000)),
  createdAt: s.time(),
  startedAt: s.nullable(s.time()),
  finishedAt: s.nullable(s.time()),
});

/** A long piece of work, as each endpoint shows it that begins one. */
export const Operation = s.object('Operation', operationFields());
export type Operation = s.Static<typeof Operation>;

/** The time by which something must have failed to be worked on. */
export const failedBy = () =>
  s
    .optional(s.moment())
    .description('Only what had failed by then: `listedAt` of a list; now unless given');

const part = {
  count: count().description('To be worked on'),
  skipped: count(),
  oldest: s.nullable(s.time()),
  newest: s.nullable(s.time()),
};

/** A list of what an operation would work on, before it begins. */
export const OperationPreview = s.object('OperationPreview', {
  ...part,
  listedAt: s.time().description('As `failedBy`, no more is worked on than this list shows'),
  reasons: s.record('SkipReasons').description('How many are skipped for which reason'),
  parts: s
    .list(s.object('PreviewedPart', { id: s.text(200), name: s.text(400), ...part }))
    .description('By hook, webhook or channel, that with the oldest first'),
  items: s
    .list(
      s.object('PreviewedItem', {
        id: s.text(80),
        partId: s.text(200),
        status: s.text(40),
        error: s.nullable(s.anyText(1000)),
        skipped: s.nullable(s.text(100)).description('Why it would be skipped'),
        createdAt: s.time(),
      }),
    )
    .description('The first of them, oldest first'),
});
export type OperationPreview = s.Static<typeof OperationPreview>;
