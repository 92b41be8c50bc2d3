import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { addressFor } from '../../../src/accounts/users/invites.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('the address of a link', () => {
  for (const [publicUrl, host, address] of [
    [null, 'localhost:3005', 'http://localhost:3005'],
    [null, '10.0.0.7:3005', 'http://10.0.0.7:3005'],
    [null, '[::1]:3005', 'http://[::1]:3005'],
    [null, '', 'http://localhost'],
    [null, 'evil.example/x?', 'http://localhost'],
    [null, 'ada@evil.example', 'http://localhost'],
    ['https://hooks.example.org', 'localhost:3005', 'https://hooks.example.org'],
    ['https://example.org/adjutant/', '', 'https://example.org/adjutant'],
  ] as const) {
    it(`is ${address} for ${publicUrl} and "${host}"`, () => {
      expect(addressFor(publicUrl, host)).to.equal(address);
    });
  }
});
