import * as s from './schema.js';

const operator = () =>
  s.oneOf('Operator', 'equals', 'not_equals', 'contains', 'matches', 'exists', 'gt', 'lt', 'in');

export const Condition = s.object('Condition', {
  field: s
    .text(300)
    .example('webhook.body.action')
    .description('Path of the value to compare, as in a template'),
  operator: operator(),
  value: s.optional(s.json().description('Value to compare with. A list for the operator `in`')),
});
export type Condition = s.Static<typeof Condition>;
