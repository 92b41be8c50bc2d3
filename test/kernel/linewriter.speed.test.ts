import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { runChatter, UNREAD } from './unread.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('the log of a process', () => {
  for (const [name, under] of UNREAD) {
    it(`holds nobody up where stderr is ${name} that is not read, and ends when told`, async () => {
      const { code, lines, longestMs } = await runChatter(under);
      expect([code, lines]).to.equal([0, 20_000]);
      expect(Number(longestMs)).to.be.below(2000);
    });
  }
});
