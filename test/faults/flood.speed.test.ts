import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { deluge } from './deluge.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('a flood of wrong logins', () => {
  it('keeps neither webhooks nor the owner out', async () => {
    const toll = await deluge({ logins: 200, seconds: 6, addresses: 60 });
    const { wrong, refused, webhookP99Ms, calmP99Ms, ownerMs } = toll;
    expect(Object.keys(wrong).filter((status) => !['401', '429'].includes(status))).to.equal([]);
    expect(refused).to.equal(0);
    // What else runs on the machine delays both.
    expect(webhookP99Ms).to.be.most(Math.max(100, 5 * calmP99Ms));
    expect(ownerMs).to.be.most(3000);
  });
});
