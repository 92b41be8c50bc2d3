import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { buildTurns, findOpenCalls, INTERRUPTED, inReadingOrder } from '../../src/agents/turns.js';
import type { TranscriptMessageRow } from '../../src/store/tables/agents.js';

export const lab = Lab.script();
const { describe, it } = lab;

const said = (
  role: TranscriptMessageRow['role'],
  content: string,
  more: Partial<TranscriptMessageRow> = {},
): TranscriptMessageRow => ({
  seq: 0,
  role,
  content,
  tool_calls: null,
  tool_call_id: null,
  agent_id: 'agent_1',
  generation: null,
  ...more,
});
const calls = ['a', 'b'].map((id) => ({ id, name: `tool_${id}`, arguments: {} }));
const asking = said('assistant', '', { tool_calls: JSON.stringify(calls) });
const result = (id: string): TranscriptMessageRow =>
  said('tool', `result ${id}`, { tool_call_id: id });

describe('turnsOf', () => {
  it('puts results behind their answer in its order, and what was said meanwhile after them', () => {
    const rows = [said('user', 'go'), asking, result('b'), said('user', 'hurry'), result('a')];
    expect(buildTurns(rows)).to.equal([
      { role: 'user', content: 'go' },
      { role: 'assistant', content: '', toolCalls: calls },
      { role: 'tool', toolCallId: 'a', toolName: 'tool_a', content: 'result a' },
      { role: 'tool', toolCallId: 'b', toolName: 'tool_b', content: 'result b' },
      { role: 'user', content: 'hurry' },
    ]);
  });

  it('leaves no call without a result', () => {
    const turns = buildTurns([said('user', 'go'), asking, result('a')]);
    expect(turns.map(({ content }) => content)).to.equal(['go', '', 'result a', INTERRUPTED]);
  });
});

describe('inReadingOrder', () => {
  const numbered = (...rows: TranscriptMessageRow[]): string[] =>
    inReadingOrder(rows.map((row, at) => ({ ...row, seq: at + 1 }))).map(({ content }) => content);
  const knowing = (seen: number) => ({ generation: JSON.stringify({ seen }) });

  it('puts what came during a reply behind it and its notes', () => {
    const rows = [
      said('user', 'Kiel'),
      said('user', 'no, Mainz'),
      said('user', 'today'),
      said('assistant', 'To Kiel', knowing(1)),
      said('system', 'It was cut off'),
      said('assistant', 'To Mainz', knowing(5)),
    ];
    const order = ['Kiel', 'To Kiel', 'It was cut off', 'no, Mainz', 'today', 'To Mainz'];
    expect(numbered(...rows)).to.equal(order);
    expect(numbered(...rows.slice(0, 5))).to.equal(order.slice(0, 5));
  });

  it('leaves the order of rows without that number', () => {
    const rows = [said('user', 'a'), said('user', 'b'), said('assistant', 'c')];
    expect(numbered(...rows)).to.equal(['a', 'b', 'c']);
  });
});

describe('openCalls', () => {
  it('returns the calls of the last answer that have no result', () => {
    const rows = [said('user', 'go'), asking, result('a')];
    expect(findOpenCalls(rows, 'agent_1')).to.equal({ calls: calls.slice(1), isOverridden: false });
  });

  it('tells that somebody has spoken since', () => {
    const rows = [asking, result('a'), said('user', 'stop that')];
    expect(findOpenCalls(rows, 'agent_1').isOverridden).to.be.true();
  });

  it("leaves another agent's calls alone", () => {
    expect(findOpenCalls([asking], 'agent_2')).to.equal({ calls: [], isOverridden: false });
  });
});
