import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  accountKey,
  backoffSeconds,
  mayRegister,
  nameFrom,
} from '../../../src/accounts/auth/rules.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('the rules of accounts', () => {
  it('lets five tries go free, then doubles the wait up to a quarter of an hour', () => {
    const waits = [0, 4, 5, 6, 7, 14, 15, 1000].map(backoffSeconds);
    expect(waits).to.equal([0, 0, 1, 2, 4, 512, 900, 900]);
  });

  it('makes one key of all spellings of a name', () => {
    expect(['Ada', 'ADA', 'Ａda', 'ﬁn', 'FIN'].map(accountKey)).to.equal([
      'ada',
      'ada',
      'ada',
      'fin',
      'fin',
    ]);
  });

  it('makes a valid name of an e-mail address', () => {
    const addresses = ['ada@x.org', 'a@x.org', 'a+b@x.org', `${'n'.repeat(60)}@x.org`];
    expect(addresses.map(nameFrom)).to.equal(['ada', 'a--', 'a-b', 'n'.repeat(40)]);
  });

  it('lets only this machine register by itself', () => {
    const exposure = {
      registration: 'local' as const,
      host: '127.0.0.1',
      publicUrl: null,
      trustedProxies: [],
      isTunnelled: false,
    };
    expect(mayRegister(exposure, true)).to.equal('yes');
    expect(mayRegister(exposure, false)).to.equal('local_only');
    expect(mayRegister({ ...exposure, host: '0.0.0.0' }, true)).to.equal('invite_required');
    expect(mayRegister({ ...exposure, isTunnelled: true }, true)).to.equal('invite_required');
  });
});
