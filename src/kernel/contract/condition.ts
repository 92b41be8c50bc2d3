import * as s from './schema.js';

/** One condition on the data of a run, as hooks and the stages of pipelines have. */
export const Condition = s.object('Condition', {
  field: s.text(300).example('webhook.body.action'),
  operator: s.oneOf(
    'Operator',
    ...(['equals', 'not_equals', 'contains', 'matches', 'exists', 'gt', 'lt', 'in'] as const),
  ),
  value: s.optional(s.json()),
});
export type Condition = s.Static<typeof Condition>;
