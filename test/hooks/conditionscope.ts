import { judgeConditions } from '../../src/hooks/conditions.js';
import type { TemplateScope } from '../../src/hooks/template.js';
import type { TimeLimit } from '../../src/hooks/timelimit.js';
import type { Condition } from '../../src/kernel/contract/condition.js';

export const scope = {
  hook: { name: 'my hook' },
  event: 'issues',
  webhook: {
    path: 'p',
    method: 'POST',
    headers: { 'x-kind': 'a' },
    body: {
      action: 'opened',
      n: 5,
      none: null,
      labels: ['bug', { id: 1 }],
      nested: { a: 1 },
      text: `${'a'.repeat(9_999)}b`,
    },
  },
};
/** Enough for any machine, however busy it is. */
export const patient: TimeLimit = { left: () => 60_000, isSpent: () => false };
export const reasonOf = (
  conditions: Condition[],
  of: TemplateScope,
  timeLimit = patient,
): string | null => {
  const judged = judgeConditions(conditions, of, timeLimit);
  return judged.verdict === 'hold' ? null : judged.reason;
};
export const stops = (field: string, operator: Condition['operator'], value?: unknown) =>
  reasonOf([{ field: `webhook.body.${field}`, operator, value }], scope);
