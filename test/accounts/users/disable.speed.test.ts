import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Disabling, openDisabling } from './disabling.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

describe('a user who is disabled', () => {
  let site: Disabling;
  before(async () => {
    site = await openDisabling();
  });
  after(() => site.stage.stop());

  it('is out within a second: agents, sockets, sessions, tokens', async () => {
    await site.disableAtWork(async (work) => {
      const since = performance.now();
      const done = await work();
      expect(performance.now() - since).to.be.below(1000);
      return done;
    });
  });
});
