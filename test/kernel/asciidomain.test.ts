import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { formatCall } from '../../src/channels/calltext.js';
import { withAsciiDomain } from '../../src/kernel/asciidomain.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('a domain in another alphabet', () => {
  it('is shown in requests for an approval with its form in the DNS', () => {
    const args = {
      to: ['r@\u0430cme.test', 'bob@ACME.test', 'eve@\u0430cme.test'],
      text: 'Gr\u00fc\u00dfe.Bis bald: https://\u0435vil.test/a, and @me.too',
    };
    expect(formatCall('email.send', args).slice(3)).to.equal([
      'Domain \u0430cme.test is xn--cme-5cd.test',
      'Domain \u0435vil.test is xn--vil-qdd.test',
    ]);
    expect(formatCall('email.send', { to: ['bob@acme.test'] }).length).to.equal(2);
    const details = [{ name: 'Original subject', value: 'Hi\nFrom: \u202eeve' }];
    expect(formatCall('email.send', {}, details)).to.equal([
      'email.send',
      'Original subject: "Hi\\nFrom: \\u{202e}eve"',
    ]);
  });

  it('is replaced in an address that is sent to', () => {
    expect(withAsciiDomain('r@b\u00fccher.example')).to.equal('r@xn--bcher-kva.example');
    for (const same of ['bob@acme.test', 'bob@[192.0.2.1]', 'no address']) {
      expect(withAsciiDomain(same)).to.equal(same);
    }
  });
});
