import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { CONDITIONS_MS, createBudget } from '../../../src/runtime/hooks/budget.js';
import {
  type Condition,
  faultOfValue,
  judgeConditions,
} from '../../../src/runtime/hooks/conditions.js';
import type { TemplateScope } from '../../../src/runtime/hooks/template.js';

export const lab = Lab.script();
const { describe, it } = lab;

const scope = {
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
const patient = createBudget(60_000);
const reasonOf = (conditions: Condition[], of: TemplateScope, budget = patient): string | null => {
  const judged = judgeConditions(conditions, of, budget);
  return judged.verdict === 'hold' ? null : judged.reason;
};
const stops = (field: string, operator: Condition['operator'], value?: unknown) =>
  reasonOf([{ field: `webhook.body.${field}`, operator, value }], scope);
const holding = (cases: Parameters<typeof stops>[]) =>
  cases.filter((each) => stops(...each) === null);

describe('judgeConditions', () => {
  it('lets through what holds, by each operator', () => {
    const cases: Parameters<typeof stops>[] = [
      ['action', 'equals', 'opened'],
      ['nested', 'equals', { a: 1 }],
      ['none', 'equals', null],
      ['action', 'not_equals', 'closed'],
      ['absent', 'not_equals', 'closed'],
      ['action', 'contains', 'pen'],
      ['labels', 'contains', 'bug'],
      ['labels', 'contains', { id: 1 }],
      ['action', 'matches', '^open(ed)?$'],
      ['none', 'exists'],
      ['absent', 'exists', false],
      ['n', 'gt', 4],
      ['n', 'lt', 5.5],
      ['action', 'in', ['closed', 'opened']],
    ];
    expect(holding(cases)).to.equal(cases);
  });

  it('stops what does not hold, or is of another type', () => {
    expect(
      holding([
        ['action', 'equals', 'Opened'],
        ['n', 'equals', '5'],
        ['absent', 'equals', null],
        ['action', 'not_equals', 'opened'],
        ['n', 'contains', 5],
        ['labels', 'contains', 'bu'],
        ['action', 'matches', '^pen'],
        ['n', 'matches', '5'],
        ['absent', 'exists'],
        ['none', 'exists', false],
        ['n', 'gt', 5],
        ['action', 'gt', 1],
        ['n', 'lt', 5],
        ['n', 'lt', '6'],
        ['action', 'in', ['closed']],
        ['action', 'in', 'opened'],
      ]),
    ).to.equal([]);
  });

  it('says which condition stopped it, and why', () => {
    expect(stops('action', 'equals', 'closed')).to.equal(
      'condition 1: action is "opened", not equals "closed"',
    );
    expect(stops('absent', 'gt', 1)).to.equal('condition 1: absent is missing');
    expect(stops('none', 'exists', false)).to.equal('condition 1: none is there');
    expect(stops('text', 'equals', 'x')).to.have.length(117);
    const second: Condition[] = [
      { field: 'event', operator: 'equals', value: 'issues' },
      { field: 'webhook.headers.X-Kind', operator: 'equals', value: 'b' },
    ];
    expect(reasonOf(second, scope)).to.equal(
      'condition 2: webhook.headers.X-Kind is "a", not equals "b"',
    );
  });

  it('compares the members of objects, whatever their order', () => {
    const body = { o: { a: 1, b: [{ c: null }] } };
    const of = { ...scope, webhook: { ...scope.webhook, body } };
    const holds = (value: unknown) =>
      reasonOf([{ field: 'webhook.body.o', operator: 'equals', value }], of) === null;
    expect(holds({ b: [{ c: null }], a: 1 })).to.be.true();
    const others = [{ a: 1 }, { ...body.o, d: 1 }, { a: 1, b: [{}] }, { a: 1, b: { 0: {} } }, []];
    expect(others.filter(holds)).to.equal([]);
  });

  it('gives up on patterns that take for ever', () => {
    for (const pattern of ['(a+)+$', '(a|aa)+$', 'a*a*a*a*a*a*c', '(?:a|a|b)*c', '(.*)*x']) {
      const since = performance.now();
      const condition: Condition = {
        field: 'webhook.body.text',
        operator: 'matches',
        value: pattern,
      };
      expect(reasonOf([condition], scope, createBudget(CONDITIONS_MS))).to.equal(
        `condition 1: /${pattern}/ takes over 25 ms on this payload`,
      );
      expect(performance.now() - since).to.be.below(500);
      expect(faultOfValue({ field: 'a', operator: 'matches', value: pattern })).to.be.null();
    }
    expect(stops('text', 'matches', 'b$')).to.be.null();
  });

  it('takes 25 ms at most for all conditions together', () => {
    const body = { text: 'a'.repeat(4_000_000), list: Array(1_000_000).fill([[]]) };
    const of = { ...scope, webhook: { ...scope.webhook, body } };
    const slow: Record<string, Condition> = {
      // A search backwards from the end of each place.
      text: { field: 'webhook.body.text', operator: 'contains', value: `b${'a'.repeat(4095)}` },
      list: { field: 'webhook.body.list', operator: 'contains', value: [[[]]] },
    };
    for (const condition of Object.values(slow)) {
      const since = performance.now();
      const judged = judgeConditions(Array(50).fill({ ...condition, operator: 'contains' }), of);
      expect(performance.now() - since).to.be.below(250);
      expect(['error', 'stopped']).to.include(judged.verdict);
    }
  });

  it('ends where that is spent, in texts and in lists', () => {
    const spent = { left: () => 1, isSpent: () => true };
    for (const field of ['text', 'labels']) {
      const condition: Condition = {
        field: `webhook.body.${field}`,
        operator: 'contains',
        value: 'none',
      };
      expect(judgeConditions([condition], scope, spent)).to.equal({
        verdict: 'error',
        reason: 'condition 1: takes over 25 ms on this payload',
      });
    }
  });

  it('says of the payload no more than it shows', () => {
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
    const since = performance.now();
    const reason = reasonOf([{ field: 'webhook.body', operator: 'equals', value: 'x' }], of);
    expect(performance.now() - since).to.be.below(100);
    expect(reason).to.equal(
      `condition 1: webhook.body is {"o":{"a":"${'x'.repeat(68)}…, not equals "x"`,
    );
  });

  it('is an error where a value is longer than it may be now', () => {
    expect(stops('text', 'contains', 'x'.repeat(4097))).to.equal(
      'condition 1: its value must be at most 4 KiB long; change the hook',
    );
    expect(
      judgeConditions([{ field: 'a', operator: 'exists', value: 'x'.repeat(4097) }], scope).verdict,
    ).to.equal('error');
  });
});

describe('faultOfValue', () => {
  const faultOf = (operator: Condition['operator'], value: unknown) =>
    faultOfValue({ field: 'a', operator, value });

  it('takes 4 KiB, and lists of 1,000 entries of that', () => {
    const fits: Parameters<typeof faultOf>[] = [
      ['contains', 'x'.repeat(4096)],
      ['equals', 'ü'.repeat(2048)],
      ['equals', { a: 'x'.repeat(4088) }],
      ['in', Array(1000).fill('x'.repeat(4096))],
      ['exists', undefined],
      ['gt', 5],
    ];
    expect(fits.filter((each) => faultOf(...each) !== null)).to.equal([]);
    expect(faultOf('contains', 'x'.repeat(4097))).to.equal('at most 4 KiB long');
    expect(faultOf('equals', 'ü'.repeat(2049))).to.equal('at most 4 KiB long');
    expect(faultOf('equals', { a: 'x'.repeat(4089) })).to.equal('at most 4 KiB long');
    expect(faultOf('in', Array(1001).fill(1))).to.equal('a list of at most 1000 entries');
    const entries = 'a list whose entries are at most 4 KiB long';
    expect(faultOf('in', [1, 'x'.repeat(4097)])).to.equal(entries);
  });

  it('names what is wrong with a pattern', () => {
    expect(faultOf('matches', '^v[0-9]+$')).to.be.null();
    expect(faultOf('matches', '(')).to.equal('a valid regular expression');
    for (const pattern of [5, undefined, 'a'.repeat(301)]) {
      expect(faultOf('matches', pattern)).to.equal('a pattern of at most 300 characters');
    }
  });
});
