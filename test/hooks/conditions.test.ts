import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { faultOfValue, judgeConditions } from '../../src/hooks/conditions.js';
import { CONDITIONS_MS, createTimeLimit } from '../../src/hooks/timelimit.js';
import type { Condition } from '../../src/kernel/contract/condition.js';
import { expectShortReasons, patient, reasonOf, scope, stops } from './conditionscope.js';

export const lab = Lab.script();
const { describe, it } = lab;

const holding = (cases: Parameters<typeof stops>[]) =>
  cases.filter((each) => stops(...each) === null);

describe('the event of a sender that names none', () => {
  it('is not there', () => {
    const of = { ...scope, event: null };
    const judged = (value: boolean) =>
      judgeConditions([{ field: 'event', operator: 'exists', value }], of);
    expect(judged(false)).to.equal({ verdict: 'hold' });
    expect(judged(true)).to.equal({ verdict: 'stopped', reason: 'condition 1: event is missing' });
  });
});

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
    expect(stops('none', 'exists', false)).to.equal('condition 1: none exists');
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

  it('finds no list and no object in a text, whatever it would be written as', () => {
    for (const value of [{}, { toString: 1 }, ['a'], null]) {
      expect(stops('text', 'contains', value)).to.contain('not contains');
    }
    expect(stops('text', 'contains', 'ab')).to.be.null();
  });

  it('gives up on patterns that take for ever', () => {
    for (const pattern of ['(a+)+$', '(a|aa)+$', 'a*a*a*a*a*a*c', '(?:a|a|b)*c', '(.*)*x']) {
      const condition: Condition = {
        field: 'webhook.body.text',
        operator: 'matches',
        value: pattern,
      };
      expect(reasonOf([condition], scope, createTimeLimit(CONDITIONS_MS))).to.equal(
        `condition 1: /${pattern}/ takes more than 25 ms on this payload`,
      );
      expect(faultOfValue({ field: 'a', operator: 'matches', value: pattern })).to.be.null();
    }
    expect(stops('text', 'matches', 'b$')).to.be.null();
  });

  it('ends where that is spent, by each operator', () => {
    const spent = { left: () => 1, isSpent: () => true };
    const cases: [string, Condition['operator'], unknown][] = [
      ['text', 'contains', 'none'],
      ['labels', 'contains', 'none'],
      ['action', 'equals', 'none'],
      ['action', 'not_equals', 'none'],
      ['action', 'in', ['none']],
      ['n', 'gt', 1],
      ['n', 'lt', 9],
      ['n', 'exists', true],
    ];
    for (const [field, operator, value] of cases) {
      const condition = { field: `webhook.body.${field}`, operator, value };
      expect(judgeConditions([condition], scope, spent), operator).to.equal({
        verdict: 'error',
        reason: 'condition 1: takes more than 25 ms on this payload',
      });
    }
  });

  it('looks at what is left often enough within one comparison', () => {
    const keys = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`k${at}`, at]));
    const slow: [Condition['operator'], unknown, unknown][] = [
      ['in', {}, Array(1000).fill({ a: 1 })],
      ['in', [0], Array(1000).fill([1])],
      ['in', 'a', Array(1000).fill('b')],
      ['equals', Array(1000).fill(1), [...Array(999).fill(1), 2]],
      ['equals', { ...keys, k299: 0 }, keys],
      ['not_equals', { ...keys, k299: 0 }, keys],
      ['not_equals', { ...keys, more: 0 }, {}],
      ['contains', Array(1000).fill({ b: 1 }), { a: 1 }],
      ['contains', Array(10).fill(keys), { ...keys, k299: 0 }],
    ];
    for (const [operator, body, value] of slow) {
      let looks = 0;
      const timeLimit = { left: () => 1, isSpent: () => ++looks > 1 };
      const of = { ...scope, webhook: { ...scope.webhook, body } };
      const judged = judgeConditions([{ field: 'webhook.body', operator, value }], of, timeLimit);
      expect([operator, looks, judged.verdict]).to.equal([operator, 2, 'error']);
    }
  });

  it('counts the keys of a payload once, however many objects it is compared with', () => {
    let counted = 0;
    const body = new Proxy(
      Object.fromEntries(Array.from({ length: 11_000 }, (_, at) => [`k${at}`, 1])),
      {
        ownKeys: (of) => {
          counted++;
          return Reflect.ownKeys(of);
        },
      },
    );
    const of = { ...scope, event: null, webhook: { ...scope.webhook, body: { o: body } } };
    const condition: Condition = {
      field: 'webhook.body.o',
      operator: 'in',
      value: [...Array(999).fill({}), { k0: 1 }],
    };
    const not: Condition = { field: 'webhook.body.o', operator: 'not_equals', value: {} };
    expect(judgeConditions([...Array(50).fill(not), condition], of, patient).verdict).to.equal(
      'stopped',
    );
    // Once to compare it, and once for the sentence that shows it.
    expect(counted).to.be.at.most(2);
  });

  it('says of the payload no more than it shows', () => {
    expectShortReasons();
  });

  it('is an error where a value is longer than it may be now', () => {
    expect(stops('text', 'contains', 'x'.repeat(4097))).to.equal(
      'condition 1: value must be at most 4 KiB long. Change the condition',
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

  it('takes values that are nested 16 deep', () => {
    const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);
    const within = (depth: number): unknown => (depth === 0 ? 1 : { a: within(depth - 1) });
    const fault = 'nested at most 16 levels deep';
    for (const operator of ['equals', 'not_equals', 'contains', 'in', 'exists'] as const) {
      expect(faultOf(operator, nested(16))).to.be.null();
      expect([operator, faultOf(operator, nested(17))]).to.equal([operator, fault]);
      expect([operator, faultOf(operator, within(17))]).to.equal([operator, fault]);
    }
    expect(faultOf('in', [within(15)])).to.be.null();
    expect(faultOf('in', [within(16)])).to.equal(fault);
    expect(stops('nested', 'equals', nested(17))).to.equal(
      `condition 1: value must be ${fault}. Change the condition`,
    );
  });

  it('names what is wrong with a pattern', () => {
    expect(faultOf('matches', '^v[0-9]+$')).to.be.null();
    expect(faultOf('matches', '(')).to.equal('a valid regular expression');
    for (const pattern of [5, undefined, 'a'.repeat(301)]) {
      expect(faultOf('matches', pattern)).to.equal('a pattern of at most 300 characters');
    }
  });
});
