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

/** A long piece of work, as each endpoint shows it that begins one. */
export const Operation = s.object('Operation', {
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
    }),
  ),
  result: s.nullable(s.record('OperationResult')).description('What came of it, by its kind'),
  error: s.nullable(s.anyText(10_000)),
  createdAt: s.time(),
  startedAt: s.nullable(s.time()),
  finishedAt: s.nullable(s.time()),
});
export type Operation = s.Static<typeof Operation>;
