import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  type Condition,
  faultOfPattern,
  PatternTooSlow,
  stoppedBy,
} from '../../../src/runtime/hooks/conditions.js';

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
const stops = (field: string, operator: Condition['operator'], value?: unknown) =>
  stoppedBy([{ field: `webhook.body.${field}`, operator, value }], scope);
const holding = (cases: Parameters<typeof stops>[]) =>
  cases.filter((each) => stops(...each) === null);

describe('stoppedBy', () => {
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
    expect(stoppedBy(second, scope)).to.equal(
      'condition 2: webhook.headers.X-Kind is "a", not equals "b"',
    );
  });

  it('gives up on patterns that take for ever', () => {
    for (const pattern of ['(a+)+$', '(a|aa)+$', 'a*a*a*a*a*a*c', '(?:a|a|b)*c', '(.*)*x']) {
      const since = performance.now();
      expect(() => stops('text', 'matches', pattern)).to.throw(PatternTooSlow, /25 ms/);
      expect(performance.now() - since).to.be.below(500);
      expect(faultOfPattern(pattern)).to.be.null();
    }
    expect(stops('text', 'matches', 'b$')).to.be.null();
  });
});

describe('faultOfPattern', () => {
  it('names what is wrong', () => {
    expect(faultOfPattern('^v[0-9]+$')).to.be.null();
    expect(faultOfPattern('(')).to.equal('a valid regular expression');
    for (const pattern of [5, undefined, 'a'.repeat(301)]) {
      expect(faultOfPattern(pattern)).to.equal('a pattern of at most 300 characters');
    }
  });
});
