import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createPrecedence } from '../../../src/hooks/inbound/precedence.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('createPrecedence', () => {
  const open = () => {
    let now = 0;
    const precedence = createPrecedence(() => now);
    return {
      ...precedence,
      /** So many deliveries, one each so many milliseconds. */
      arrive: (count: number, everyMs: number): void => {
        for (let n = 0; n < count; n++) {
          now += everyMs;
          precedence.accepted();
        }
      },
      pass: (ms: number): void => {
        now += ms;
      },
    };
  };

  it('holds no batch where few deliveries come', () => {
    const { areBatchesHeld, arrive } = open();
    expect(areBatchesHeld()).to.be.false();
    arrive(1000, 1);
    expect(areBatchesHeld()).to.be.false();
  });

  it('lets one batch begin for each 768 deliveries at a peak', () => {
    const { areBatchesHeld, arrive } = open();
    arrive(767, 0.2);
    expect(areBatchesHeld()).to.be.true();
    arrive(1, 0.2);
    expect([areBatchesHeld(), areBatchesHeld()]).to.equal([false, true]);
    arrive(767, 0.2);
    expect(areBatchesHeld()).to.be.true();
    arrive(1, 0.2);
    expect(areBatchesHeld()).to.be.false();
  });

  it('lets them begin as soon as the peak is over', () => {
    const { areBatchesHeld, arrive, pass } = open();
    arrive(500, 0.2);
    expect(areBatchesHeld()).to.be.true();
    pass(101);
    expect(areBatchesHeld()).to.be.false();
  });
});
