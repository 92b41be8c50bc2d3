import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createChatPace } from '../../src/channels/pace.js';

export const lab = Lab.script();
const { describe, it } = lab;

const { signal } = new AbortController();
const FIVE = [1, 2, 3, 4, 5];

/** True if a message to the chat goes at once: it waits for no timer. */
const passes = async (work: Promise<void>): Promise<boolean> =>
  Promise.race([work.then(() => true), nextTurn(false)]);

describe('pace', () => {
  it('lets five messages pass at once, and one a second after that, in each chat', async () => {
    let now = 0;
    const pace = createChatPace(() => now);
    const aborter = new AbortController();
    for (const _ of FIVE) expect(await passes(pace('a', signal))).to.be.true();
    const held = pace('a', aborter.signal);
    expect(await passes(held)).to.be.false();
    expect(await passes(pace('b', signal))).to.be.true();
    aborter.abort();
    await expect(held).to.reject();
    // The one that gave up has had its turn.
    now = 2000;
    expect(await passes(pace('a', signal))).to.be.true();
  });

  it('lets five pass again after some silence', async () => {
    let now = 0;
    const pace = createChatPace(() => now);
    for (const _ of FIVE) await pace('a', signal);
    now = 5000;
    for (const _ of FIVE) expect(await passes(pace('a', signal))).to.be.true();
  });

  it('waits no longer once it is told to stop', async () => {
    const pace = createChatPace(() => 0);
    for (const _ of FIVE) await pace('a', signal);
    const aborter = new AbortController();
    const waiting = pace('a', aborter.signal);
    aborter.abort();
    await expect(waiting).to.reject();
  });
});
