import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createChatPace } from '../../src/channels/pace.js';

export const lab = Lab.script();
const { describe, it } = lab;

const { signal } = new AbortController();
const FIVE = [1, 2, 3, 4, 5];

/** How long a message to the chat waits, on a clock that stands still meanwhile. */
const timed = async (work: Promise<void>): Promise<number> => {
  const began = performance.now();
  await work;
  return performance.now() - began;
};

describe('pace', () => {
  it('lets five messages pass at once, and one a second after that, in each chat', async () => {
    const pace = createChatPace();
    for (const _ of FIVE) expect((await timed(pace('a', signal))) < 300).to.be.true();
    expect(await timed(pace('a', signal))).to.be.about(900, 300);
    expect((await timed(pace('b', signal))) < 300).to.be.true();
  });
});
