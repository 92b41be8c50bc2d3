import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { threadHeaders } from '../../src/email/sending/reply.js';

export const lab = Lab.script();
const { describe, it } = lab;

const headersFor = (message_id: string | null, refs: string[]) =>
  threadHeaders({ message_id, refs: JSON.stringify(refs) });

describe('the headers of an answer', () => {
  it('name the messages before it, the first and the last of a long thread', () => {
    const many = Array.from({ length: 200 }, (_, at) => `<${at}@example.org>`);
    const { in_reply_to, refs } = headersFor('<now@example.org>', many);
    expect(in_reply_to).to.equal('<now@example.org>');
    const kept: string[] = JSON.parse(refs);
    expect([kept.length, kept[0], kept[1], kept.at(-2), kept.at(-1)]).to.equal([
      ...[22, '<0@example.org>', '<180@example.org>', '<199@example.org>', '<now@example.org>'],
    ]);
    expect(headersFor(null, many)).to.equal({ in_reply_to: null, refs: '[]' });
  });

  it('leave out what no server need take', () => {
    const odd = [`<${'x'.repeat(900)}@example.org>`, '<a\u0000b@x>', '<ü@x>', 'none', '<a b@x>'];
    const { refs } = headersFor('<now@example.org>', ['<1@x>', ...odd, '<2@x>']);
    expect(JSON.parse(refs)).to.equal(['<1@x>', '<2@x>', '<now@example.org>']);
  });
});
