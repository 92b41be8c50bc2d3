import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { pauseMs } from '../../../src/system/tunnel/supervisor.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('pauseMs()', () => {
  it('doubles up to a minute, and leaves from half to the whole of it to chance', () => {
    expect([0, 1, 2, 3, 6, 50].map((failures) => pauseMs(failures, 1))).to.equal([
      1000, 2000, 4000, 8000, 60_000, 60_000,
    ]);
    expect([pauseMs(0, 0), pauseMs(3, 0), pauseMs(9, 0.5)]).to.equal([500, 4000, 45_000]);
  });
});
