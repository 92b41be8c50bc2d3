import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { openForSuite } from '../harness/suite.js';
import { expectBombsStopped, openEncodedSite } from './encodedsite.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('decodedBody', () => {
  const site = openForSuite(lab, openEncodedSite);

  it('stops at the limit of bytes, wherever a bomb has them', async () => {
    for (const { encoding, ms } of await expectBombsStopped(site, () => performance.now())) {
      expect(ms, encoding).to.be.below(2_000);
    }
  });
});
