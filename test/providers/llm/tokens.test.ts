import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { Turn } from '../../../src/providers/llm/model.js';
import { estimateTokens, textTokens } from '../../../src/providers/llm/tokens.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('textTokens()', () => {
  it('counts a token per three bytes of UTF-8, rounded up', () => {
    expect(['', 'a', 'abc', 'abcd', 'ü', '天気'].map(textTokens)).to.equal([0, 1, 1, 2, 1, 2]);
  });
});

describe('estimateTokens()', () => {
  it('counts nothing for nothing', () => {
    expect(estimateTokens([])).to.equal(0);
  });

  it('adds six tokens around each turn, call and tool', () => {
    const call = { id: 'c1', name: 'abc', arguments: {} };
    const turns: Turn[] = [
      { role: 'user', content: 'abcdef' },
      { role: 'assistant', content: '', toolCalls: [call] },
      { role: 'tool', toolCallId: 'c1', toolName: 'abc', content: 'abc' },
    ];
    const tool = { name: 'abc', description: 'a', inputSchema: {} };
    expect(estimateTokens(turns)).to.equal(8 + 14 + 7);
    expect(estimateTokens(turns, [tool])).to.equal(8 + 14 + 7 + 8);
  });
});
