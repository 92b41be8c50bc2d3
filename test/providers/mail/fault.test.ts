import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { toMailFault } from '../../../src/providers/mail/fault.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('toMailFault', () => {
  it('says how to trust an authority, without the advice of Node', () => {
    const text =
      'unable to verify the first certificate; if the root CA is installed locally, try running Node.js with --use-system-ca';
    const error = Object.assign(new Error(text), { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' });
    expect(toMailFault(error, 'mail.example.org').message).to.equal(
      'mail.example.org: could not establish a trusted TLS connection (unable to verify the first certificate. To trust its authority, set NODE_EXTRA_CA_CERTS for the daemon and restart it)',
    );
  });
});
