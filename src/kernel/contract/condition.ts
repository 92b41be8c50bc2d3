import * as s from './schema.js';

const operator = () =>
  s.oneOf('Operator', 'equals', 'not_equals', 'contains', 'matches', 'exists', 'gt', 'lt', 'in');

export const Condition = s.object('Condition', {
  field: s
    .text(300)
    .example('webhook.body.action')
    .description('Path of the value to compare, as in a placeholder but without the braces'),
  operator: operator(),
  value: s.optional(
    s
      .json()
      .description(
        'Value to compare with. A list for the operator `in`, a regular expression for `matches`. With `exists`, `false` requires that the field is missing',
      ),
  ),
});
export type Condition = s.Static<typeof Condition>;
