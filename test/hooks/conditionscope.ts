import { expect } from '@hapi/code';
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

/** Reads of a payload no more than its sentence shows. Returns the time for 4 MB by `now`. */
export const expectShortReasons = (now = () => 0): { ms: number } => {
  const read: string[] = [];
  const late = {
    get late() {
      read.push('late');
      return 1;
    },
  };
  const shown = { ...scope, event: null, webhook: { ...scope.webhook, body: ['x', late] } };
  expect(reasonOf([{ field: 'webhook.body', operator: 'equals', value: 'x' }], shown)).to.contain(
    'not equals',
  );
  expect(read).to.equal([]);
  const body = { o: { a: 'x'.repeat(4_000_000), b: Array(1_000_000).fill(0) } };
  const of = { ...scope, webhook: { ...scope.webhook, body } };
  const since = now();
  const reason = reasonOf([{ field: 'webhook.body', operator: 'equals', value: 'x' }], of);
  const ms = now() - since;
  expect(reason).to.equal(
    `condition 1: webhook.body is {"o":{"a":"${'x'.repeat(68)}…, not equals "x"`,
  );
  return { ms };
};
