import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { INTERRUPTED, openCalls, turnsOf } from '../../src/agents/turns.js';
import type { SaidRow } from '../../src/store/tables/agents.js';

export const lab = Lab.script();
const { describe, it } = lab;

const said = (role: SaidRow['role'], content: string, more: Partial<SaidRow> = {}): SaidRow => ({
  seq: 0,
  role,
  content,
  tool_calls: null,
  tool_call_id: null,
  agent_id: 'agent_1',
  ...more,
});
const calls = ['a', 'b'].map((id) => ({ id, name: `tool_${id}`, arguments: {} }));
const asking = said('assistant', '', { tool_calls: JSON.stringify(calls) });
const result = (id: string): SaidRow => said('tool', `result ${id}`, { tool_call_id: id });

describe('turnsOf', () => {
  it('puts results behind their answer in its order, and what was said meanwhile after them', () => {
    const rows = [said('user', 'go'), asking, result('b'), said('user', 'hurry'), result('a')];
    expect(turnsOf(rows)).to.equal([
      { role: 'user', content: 'go' },
      { role: 'assistant', content: '', toolCalls: calls },
      { role: 'tool', toolCallId: 'a', toolName: 'tool_a', content: 'result a' },
      { role: 'tool', toolCallId: 'b', toolName: 'tool_b', content: 'result b' },
      { role: 'user', content: 'hurry' },
    ]);
  });

  it('leaves no call without a result', () => {
    const turns = turnsOf([said('user', 'go'), asking, result('a')]);
    expect(turns.map(({ content }) => content)).to.equal(['go', '', 'result a', INTERRUPTED]);
  });
});

describe('openCalls', () => {
  it('returns the calls of the last answer that have no result', () => {
    const rows = [said('user', 'go'), asking, result('a')];
    expect(openCalls(rows, 'agent_1')).to.equal({ calls: calls.slice(1), isOverridden: false });
  });

  it('tells that somebody has spoken since', () => {
    const rows = [asking, result('a'), said('user', 'stop that')];
    expect(openCalls(rows, 'agent_1').isOverridden).to.be.true();
  });

  it("leaves another agent's calls alone", () => {
    expect(openCalls([asking], 'agent_2')).to.equal({ calls: [], isOverridden: false });
  });
});
