import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { callDigest } from '../../src/approvals/approval.js';
import { canonical } from '../../src/kernel/jsonvalue.js';

export const lab = Lab.script();
const { describe, it } = lab;

const call = { agentId: 'agent_a', tool: 'shell', action: 'run', arguments: { argv: ['ls'] } };

describe('canonical', () => {
  it('writes equal values as equal texts', () => {
    expect(canonical({ b: [1, { d: 1, c: 'ü"' }], a: null })).to.equal(
      '{"a":null,"b":[1,{"c":"ü\\"","d":1}]}',
    );
    expect(canonical(JSON.parse('{"__proto__":{"a":1},"a":2}'))).to.equal(
      '{"__proto__":{"a":1},"a":2}',
    );
    expect(canonical([undefined, '\ud800'])).to.equal('[null,"\\ud800"]');
  });
});

describe('digestOf', () => {
  it('is the same for the same call, however its arguments are ordered', () => {
    const one = { ...call, arguments: { a: 1, b: { c: 2, d: 3 } } };
    const other = { ...call, arguments: { b: { d: 3, c: 2 }, a: 1 } };
    expect(callDigest(one))
      .to.match(/^[0-9a-f]{64}$/)
      .and.to.equal(callDigest(other));
  });

  it('differs in the agent, the tool, the action and each argument', () => {
    const others = [
      { ...call, agentId: 'agent_b' },
      { ...call, agentId: null },
      { ...call, tool: 'http' },
      { ...call, action: 'walk' },
      { ...call, arguments: { argv: ['ls', ''] } },
      { ...call, arguments: { argv: 'ls' } },
      { ...call, arguments: { argv: ['ls'], timeoutMs: 100 } },
      { ...call, details: [{ name: 'From', value: 'ada@example.org' }] },
    ];
    expect(new Set([call, ...others].map(callDigest)).size).to.equal(others.length + 1);
  });
});
