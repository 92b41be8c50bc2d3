import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createRefusalLog } from '../../../src/hooks/inbound/refusallog.js';
import { frozenClock } from '../../harness/clock.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('the log of refused deliveries', () => {
  it('counts on for a hook whose deliveries it has forgotten', () => {
    const directory = Object.create({ onPath: (id: string) => [{ id }] });
    const log = createRefusalLog({ clock: frozenClock(), directory, addressOf: () => null });
    log.tried('first');
    log.tried('first');
    for (let n = 0; n < 1000; n++) log.tried(`other-${n}`);
    expect(log.of('first')).to.include({ count: 2, refused: [] });
    log.tried('first');
    const { count, refused } = log.of('first');
    expect([count, refused.length]).to.equal([3, 1]);
  });
});
