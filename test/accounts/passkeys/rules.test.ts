import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { relyingParties, textDigest } from '../../../src/accounts/passkeys/rules.js';

export const lab = Lab.script();
const { describe, it } = lab;

const local = { id: 'localhost', host: 'localhost:3005', origin: 'http://localhost:3005' };
const namesAt = (publicUrl: string | null) => relyingParties({ port: 3005, publicUrl }).slice(1);

describe('relyingParties', () => {
  it('has this machine’s own name on its own port', () => {
    expect(relyingParties({ port: 3005, publicUrl: null })).to.equal([local]);
    expect(relyingParties({ port: 80, publicUrl: null })).to.equal([
      { id: 'localhost', host: 'localhost', origin: 'http://localhost' },
    ]);
  });

  it('adds the public name, whatever stands behind it', () => {
    expect(namesAt('https://hooks.example.org/')).to.equal([
      { id: 'hooks.example.org', host: 'hooks.example.org', origin: 'https://hooks.example.org' },
    ]);
    expect(namesAt('https://Hooks.example.org:8443/base')).to.equal([
      {
        id: 'hooks.example.org',
        host: 'hooks.example.org:8443',
        origin: 'https://hooks.example.org:8443',
      },
    ]);
    expect(namesAt('http://localhost:8080')).to.equal([
      { id: 'localhost', host: 'localhost:8080', origin: 'http://localhost:8080' },
    ]);
  });

  it('leaves out what browsers have no passkeys for', () => {
    const without = ['http://hooks.example.org', 'https://203.0.113.7', 'https://[2001:db8::1]'];
    expect(without.map(namesAt)).to.equal([[], [], []]);
  });
});

describe('digestOf', () => {
  it('is S256 as in RFC 7636, appendix B', () => {
    expect(textDigest('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk')).to.equal(
      'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    );
  });
});
