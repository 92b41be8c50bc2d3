import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { listGrantScopes } from '../../../src/approvals/grants/rules.js';
import { judged, MCP, POST } from './judged.js';

export const lab = Lab.script();
const { describe, it } = lab;

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
