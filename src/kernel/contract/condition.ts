import * as s from './schema.js';

/** The comparisons of conditions. `matches` takes a regular expression, `in` a list. */
const operator = () =>
  s.oneOf('Operator', 'equals', 'not_equals', 'contains', 'matches', 'exists', 'gt', 'lt', 'in');

/** One condition on the data of a run, as hooks and the stages of pipelines have. */
export const Condition = s.object('Condition', {
  field: s
    .text(300)
    .example('webhook.body.action')
    .description('The path of a value, as templates name it'),
  operator: operator(),
  value: s.optional(s.json()),
});
export type Condition = s.Static<typeof Condition>;
