import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { watchLoop } from '../../generated/block.js';
import { HOSTILE_PAGES, outcomeOf } from './hostilepages.js';

export const lab = Lab.script();
const { describe, it } = lab;

/** Ours: the longest turn of the event loop, and the longest time of a page on a slow machine. */
const MAX_TURN_MS = 250;

describe('readPageApart: hostile pages', () => {
  for (const [name, html, outcome] of HOSTILE_PAGES) {
    it(`ends with ${name}, and leaves the event loop alone`, async () => {
      const body = html();
      const loop = watchLoop();
      const since = performance.now();
      const text = await outcomeOf(body);
      const { turnMs } = loop.stop();
      expect(text?.slice(0, 2000)).to.match(outcome);
      expect(performance.now() - since).to.be.below(20_000);
      expect(turnMs).to.be.below(MAX_TURN_MS);
    });
  }
});
