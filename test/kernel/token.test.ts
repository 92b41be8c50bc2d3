import {
  createHmac,
  createSecretKey,
  generateKeyPairSync,
  randomBytes,
  sign as signWith,
} from 'node:crypto';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  formatAccessToken,
  readToken,
  type SigningKey,
  signToken,
} from '../../src/kernel/token.js';

export const lab = Lab.script();
const { describe, it } = lab;

const NOW = Date.parse('2026-03-01T12:00:00.000Z');
const SECONDS = NOW / 1000;
const key: SigningKey = { id: 'key_1', secret: createSecretKey(randomBytes(32)) };
const keys = new Map([[key.id, key]]);
const claims = {
  userId: 'user_1',
  sessionId: 'login_1',
  issuedAt: SECONDS,
  expiresAt: SECONDS + 3600,
};
const wire = {
  iss: 'adjutant',
  aud: 'api',
  sub: 'user_1',
  jti: 'login_1',
  iat: SECONDS,
  exp: SECONDS + 3600,
};
const header = { alg: 'HS256', typ: 'JWT', kid: key.id };

describe('token', () => {
  it('reads what it signed', () => {
    expect(readToken(keys, signToken(key, claims), NOW)).to.equal(claims);
  });

  it('reads a token made by hand the same way', () => {
    expect(read(header, wire)).to.equal(claims);
  });

  it('reads a personal access token with its prefix and, as they once were, without', () => {
    const access = { ...claims, sessionId: 'token_1' };
    const bare = signToken(key, access);
    expect(formatAccessToken(bare)).to.equal(`adj_${bare}`);
    expect(readToken(keys, formatAccessToken(bare), NOW)).to.equal(access);
    expect(readToken(keys, bare, NOW)).to.equal(access);
  });

  it('takes the prefix once, and not of a login', () => {
    expect(readToken(keys, formatAccessToken(signToken(key, claims)), NOW)).to.be.null();
    const access = formatAccessToken(signToken(key, { ...claims, sessionId: 'token_1' }));
    expect(readToken(keys, formatAccessToken(access), NOW)).to.be.null();
    expect(readToken(keys, access.toUpperCase(), NOW)).to.be.null();
  });

  it('ends at its expiry', () => {
    const token = signToken(key, claims);
    expect(readToken(keys, token, NOW + 3599_000)).to.equal(claims);
    expect(readToken(keys, token, NOW + 3600_000)).to.be.null();
  });

  for (const [what, changed] of Object.entries({
    'another issuer': { iss: 'somebody' },
    'another audience': { aud: 'web' },
    'no issuer': { iss: undefined },
    'no audience': { aud: undefined },
    'no expiry': { exp: undefined },
    'an expiry that is text': { exp: '9999999999' },
    'no subject': { sub: undefined },
    'no session': { jti: undefined },
    'no time of issue': { iat: undefined },
    'a time before which it does not count': { nbf: SECONDS + 60 },
  })) {
    it(`refuses ${what}`, () => {
      expect(read(header, { ...wire, ...changed })).to.be.null();
    });
  }

  for (const [what, changed] of Object.entries({
    'an unknown key': { kid: 'key_2' },
    'no key': { kid: undefined },
    'a key that is no text': { kid: 1 },
    'a critical extension': { crit: ['exp'] },
    HS384: { alg: 'HS384' },
    HS512: { alg: 'HS512' },
    'no algorithm': { alg: undefined },
  })) {
    it(`refuses ${what}`, () => {
      expect(read({ ...header, ...changed }, wire)).to.be.null();
    });
  }

  it('refuses HS384 and HS512 with right signatures', () => {
    for (const bits of ['384', '512']) {
      const unsigned = `${part({ ...header, alg: `HS${bits}` })}.${part(wire)}`;
      const mac = createHmac(`sha${bits}`, key.secret).update(unsigned).digest('base64url');
      expect(readToken(keys, `${unsigned}.${mac}`, NOW)).to.be.null();
    }
  });

  it('refuses alg none, with and without a signature', () => {
    const unsigned = `${part({ ...header, alg: 'none' })}.${part(wire)}`;
    expect(readToken(keys, `${unsigned}.`, NOW)).to.be.null();
    expect(readToken(keys, `${unsigned}.${mac(unsigned)}`, NOW)).to.be.null();
  });

  it('refuses RS256, also where the public key would be the secret', () => {
    const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const unsigned = `${part({ ...header, alg: 'RS256' })}.${part(wire)}`;
    const signature = signWith('sha256', Buffer.from(unsigned), pair.privateKey);
    expect(readToken(keys, `${unsigned}.${signature.toString('base64url')}`, NOW)).to.be.null();
    expect(readToken(keys, `${unsigned}.${mac(unsigned)}`, NOW)).to.be.null();
  });

  it('refuses every change of a character', () => {
    const token = signToken(key, claims);
    for (let at = 0; at < token.length - 1; at++) {
      const other = token[at] === 'A' ? 'B' : 'A';
      const forged = token.slice(0, at) + other + token.slice(at + 1);
      expect(readToken(keys, forged, NOW), `character ${at}`).to.be.null();
    }
  });

  it('refuses what is no token at all', () => {
    for (const text of ['', '.', '..', 'a.b.c', 'null', `${'x'.repeat(5000)}`]) {
      expect(readToken(keys, text, NOW)).to.be.null();
    }
  });
});

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const mac = (unsigned: string): string =>
  createHmac('sha256', key.secret).update(unsigned).digest('base64url');
const read = (head: object, body: object) => {
  const unsigned = `${part(head)}.${part(body)}`;
  return readToken(keys, `${unsigned}.${mac(unsigned)}`, NOW);
};
