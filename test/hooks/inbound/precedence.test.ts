import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createBackpressure } from '../../../src/hooks/inbound/backpressure.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('createPrecedence', () => {
  const open = () => {
    let now = 0;
    const precedence = createBackpressure(() => now);
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

  it('limits no batch where few deliveries come', () => {
    const { roomInBatches, arrive } = open();
    expect(roomInBatches()).to.equal(Number.POSITIVE_INFINITY);
    arrive(1000, 1);
    expect(roomInBatches()).to.equal(Number.POSITIVE_INFINITY);
  });

  /** The runs that begin in a second in which deliveries come at an even pace. */
  const begunIn = (
    { arrive, roomInBatches, began }: ReturnType<typeof open>,
    deliveries: number,
  ): number => {
    let begun = 0;
    for (let tick = 0; tick < 100; tick++) {
      arrive(deliveries / 100, 1000 / deliveries);
      const room = Math.min(roomInBatches(), 100_000);
      began(room);
      begun += room;
    }
    return begun;
  };

  it('lets one run begin for each 16 deliveries at a peak', () => {
    const precedence = open();
    begunIn(precedence, 16_000);
    expect(begunIn(precedence, 16_000)).to.be.between(950, 1050);
  });

  it('lets as many begin as are borne beside the deliveries', () => {
    const precedence = open();
    begunIn(precedence, 2000);
    expect(begunIn(precedence, 2000)).to.be.between(1900, 2100);
    expect(begunIn(precedence, 3000)).to.be.between(950, 1150);
  });

  it('takes what was accepted before as what the machine bears, half of it beside runs', () => {
    const precedence = open();
    begunIn(precedence, 20_000);
    begunIn(precedence, 4000);
    expect(begunIn(precedence, 4000)).to.be.between(5700, 6300);
  });

  it('saves up no room while it is quiet', () => {
    const { arrive, roomInBatches, pass, began } = open();
    arrive(1000, 0.1);
    began(roomInBatches());
    pass(10_000);
    arrive(100, 0.1);
    expect(roomInBatches()).to.be.below(300);
  });

  it('counts nothing of what began before the peak', () => {
    const { arrive, roomInBatches, pass, began } = open();
    began(100_000);
    arrive(100, 0.1);
    pass(40);
    expect(roomInBatches()).to.be.above(50);
  });

  it('lets all begin as soon as the peak is over', () => {
    const { arrive, roomInBatches, pass } = open();
    arrive(500, 0.2);
    expect(roomInBatches()).to.be.below(300);
    pass(101);
    expect(roomInBatches()).to.equal(Number.POSITIVE_INFINITY);
  });
});
