import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type JudgedCall, listGrantScopes } from '../../../src/approvals/grants/rules.js';

export const lab = Lab.script();
const { describe, it } = lab;

const tool = (name: string, more: Partial<JudgedCall['tool']> = {}): JudgedCall['tool'] => {
  const [skillId = '', action = ''] = name.split('.');
  return { skillId, name: action, sendsOut: true, ...more };
};
const judged = (
  name: string,
  args: Record<string, unknown>,
  isUntrusted = false,
  more: Partial<JudgedCall['tool']> = {},
): JudgedCall => ({ tool: tool(name, more), arguments: args, isUntrusted });

const POST = { method: 'POST', url: 'https://example.org/in', body: 'x' };
const MCP = { definitionDigest: 'a'.repeat(64) };

describe('a call with a long text', () => {
  it('is judged in a time that grows with its length', () => {
    const long = 'a'.repeat(100_000);
    const since = performance.now();
    for (const url of [`https:${long}`, long, `https://${long}`, `https:${'/'.repeat(100_000)}`]) {
      expect(listGrantScopes(judged('http.request', { ...POST, url }))).to.equal([]);
    }
    expect(listGrantScopes(judged('notes.add', { text: long }, false, MCP))).to.equal([
      'conversation',
    ]);
    expect(performance.now() - since).to.be.below(500);
  });
});
