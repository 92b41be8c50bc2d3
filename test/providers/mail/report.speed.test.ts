import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { parseFailureReport } from '../../../src/providers/mail/report.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('the report of a failure', () => {
  it('takes no longer for what is made to take long', () => {
    const begun = performance.now();
    for (const piece of ['\n', ' \n', '\n ', 'a', ' ', 'Action: failed\n\n', '<', ': ', ';']) {
      parseFailureReport(piece.repeat(128 * 1024), piece.repeat(64 * 1024));
    }
    const groups = 'Final-Recipient: rfc822; bob@example.org\nAction: failed\n\n'.repeat(5000);
    expect(parseFailureReport(groups, '').failed.length).to.equal(1000);
    expect(performance.now() - begun).to.be.below(2000);
  });
});
