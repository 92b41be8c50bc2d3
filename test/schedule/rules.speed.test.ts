import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { computedMs, limitMs } from '../generated/block.js';
import { ENDLESS, faultOf } from './endless.js';

export const lab = Lab.script();
const { describe, it } = lab;

/** The most that a search computes on a quiet machine; the longest of those below takes 30 to 45. */
const MAX_SEARCH_MS = 100;

describe('a recurrence rule', () => {
  it('that never comes, or would take long, is refused quickly', async () => {
    await faultOf('FREQ=DAILY');
    for (const rrule of ENDLESS) {
      const before = computedMs();
      expect(await faultOf(rrule, 'Africa/Casablanca'), rrule).to.match(/a future time|RFC 5545/);
      expect(computedMs() - before, rrule).to.be.below(limitMs(MAX_SEARCH_MS));
    }
  });
});
