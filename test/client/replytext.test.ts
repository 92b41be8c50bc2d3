import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { isTextDelta, type ReplyText, withDelta } from '../../src/client/replytext.js';

export const lab = Lab.script();
const { describe, it } = lab;

const delta = (step: number, from: number, text: string) => ({
  agentId: 'agent_1',
  step,
  from,
  text,
});
const textOf = (...deltas: ReturnType<typeof delta>[]): string | undefined =>
  deltas.reduce<ReplyText | null>(withDelta, null)?.text;

describe('a reply by its deltas', () => {
  it('grows, and says where text is missing', () => {
    expect(textOf(delta(1, 0, 'One '), delta(1, 4, 'two'))).to.equal('One two');
    expect(textOf(delta(1, 0, 'One'), delta(1, 9, 'four'))).to.equal('One … four');
    expect(textOf(delta(1, 9, 'four'), delta(1, 13, '.'))).to.equal('… four.');
  });

  it('has no word twice, whatever comes again', () => {
    expect(textOf(delta(1, 0, 'One '), delta(1, 4, 'two'), delta(1, 2, 'e two'))).to.equal(
      'One two',
    );
    expect(textOf(delta(1, 0, 'One '), delta(1, 2, 'e two'))).to.equal('One two');
  });

  it('begins anew with each step, and where another model begins the same one', () => {
    expect(textOf(delta(1, 0, 'One'), delta(2, 0, 'Two'))).to.equal('Two');
    expect(textOf(delta(1, 0, 'One'), delta(2, 40, 'later'))).to.equal('… later');
    expect(textOf(delta(1, 0, 'One'), delta(1, 3, ' and'), delta(1, 0, 'Uno'))).to.equal('Uno');
  });

  it('keeps the newest of a text that does not end', () => {
    const many = Array.from({ length: 100 }, (_, nth) => delta(1, nth * 1000, 'x'.repeat(1000)));
    expect(textOf(...many, delta(1, 100_000, 'end'))?.length).to.equal(65_536);
    expect(textOf(...many, delta(1, 100_000, 'end'))?.endsWith('xend')).to.be.true();
  });

  it('is told from events by its fields', () => {
    expect(isTextDelta(delta(1, 0, ''))).to.be.true();
    for (const other of [null, 'x', [], { agentId: 'a' }, { ...delta(1, 0, ''), from: '0' }]) {
      expect(isTextDelta(other)).to.be.false();
    }
  });
});
