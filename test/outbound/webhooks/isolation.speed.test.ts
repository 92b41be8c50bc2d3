import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { deliverBesideDead } from './isolated.js';

export const lab = Lab.script();
const { describe, it } = lab;

/** The one that hangs is waited for longer. */
const LIMIT_MS = 10_000;

describe('endpoints of webhooks', () => {
  it('get what is theirs at once, whatever those beside them do', () =>
    deliverBesideDead(async (deliver) => {
      const began = performance.now();
      await deliver();
      expect(performance.now() - began).to.be.below(LIMIT_MS);
    }));
});
