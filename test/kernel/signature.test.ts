import { createHmac, createSecretKey } from 'node:crypto';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { githubSignature, type Headers, verifySignature } from '../../src/kernel/signature.js';

export const lab = Lab.script();
const { describe, it } = lab;

const keyOf = (secret: string) => createSecretKey(Buffer.from(secret));
const hmac = (key: string | Buffer, ...parts: string[]) =>
  createHmac('sha256', key).update(parts.join('.')).digest();

describe('GitHub’s signature', () => {
  const secret = "It's a Secret to Everybody";
  const body = Buffer.from('Hello, World!');
  const published = '757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
  const isRight = (signature: string): boolean =>
    verifySignature(keyOf(secret), body, { 'x-hub-signature-256': signature }, 0) === 'github';

  it('agrees with the published vector', () => {
    expect(githubSignature(secret, body)).to.equal(`sha256=${published}`);
    expect(isRight(`sha256=${published}`)).to.be.true();
    expect(isRight(`sha256=${published.toUpperCase()}`)).to.be.true();
  });

  it('is refused with any of its nibbles changed', () => {
    const changed = [...published].map((nibble, at) => {
      const other = (Number.parseInt(nibble, 16) ^ 1).toString(16);
      return `sha256=${published.slice(0, at)}${other}${published.slice(at + 1)}`;
    });
    expect(changed).to.have.length(64);
    expect(changed.filter(isRight)).to.equal([]);
  });

  it('is refused in any other spelling', () => {
    const spellings = [
      '',
      'sha256=',
      published,
      `sha256=${published}zz`,
      `sha256=${published} `,
      ` sha256=${published}`,
      `sha256=${published.slice(0, 62)}`,
      `sha256=${published}, sha256=${published}`,
      `sha1=${published}`,
      `sha256=${Buffer.from(published, 'hex').toString('base64')}`,
    ];
    expect(spellings.filter(isRight)).to.equal([]);
  });
});

describe('Standard Webhooks', () => {
  // The vector of the official libraries.
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const body = '{"test": 2432232314}';
  const headers = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  };
  const sentAt = 1614265330_000;
  const isRight = (given: Headers = headers, now = sentAt, key = secret): boolean =>
    verifySignature(keyOf(key), Buffer.from(body), given, now) === 'standard';
  const signedWith = (key: string | Buffer): Headers => {
    const mac = hmac(key, headers['webhook-id'], headers['webhook-timestamp'], body);
    return { ...headers, 'webhook-signature': `v1,${mac.toString('base64')}` };
  };

  it('agrees with the published vector', () => {
    expect(isRight()).to.be.true();
  });

  it('is known by Svix’s names of its headers too, and not by a mixture of both', () => {
    const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': mac } = headers;
    const svix = { 'svix-id': id, 'svix-timestamp': at, 'svix-signature': mac };
    const schemeOf = (given: Headers) =>
      verifySignature(keyOf(secret), Buffer.from(body), given, sentAt);
    expect(schemeOf(svix)).to.equal('svix');
    expect(schemeOf({ ...svix, ...headers })).to.equal('standard');
    expect(
      schemeOf({ 'svix-id': id, 'svix-timestamp': at, 'webhook-signature': mac }),
    ).to.be.null();
  });

  it('comes before a signature that signs no id', () => {
    const key = keyOf(secret);
    const both = {
      ...headers,
      'x-hub-signature-256': githubSignature(key, body),
    };
    expect(verifySignature(key, Buffer.from(body), both, sentAt)).to.equal('standard');
  });

  it('takes a secret without the prefix as it is', () => {
    expect(isRight(signedWith('plain secret'), sentAt, 'plain secret')).to.be.true();
  });

  it('takes one right signature among others', () => {
    const several = `v1a,AAAA v1,${'A'.repeat(43)}= ${headers['webhook-signature']}`;
    expect(isRight({ ...headers, 'webhook-signature': several })).to.be.true();
  });

  it('holds for five minutes, before and after', () => {
    const minutes = [-301, -300, 0, 300, 301].map((s) => isRight(headers, sentAt + s * 1000));
    expect(minutes).to.equal([false, true, true, true, false]);
  });

  it('is refused where a signed part differs or is missing', () => {
    const others: Headers[] = [
      { ...headers, 'webhook-id': 'msg_other' },
      { ...headers, 'webhook-id': undefined },
      { ...headers, 'webhook-timestamp': '1614265331' },
      { ...headers, 'webhook-timestamp': 'soon' },
      { ...headers, 'webhook-timestamp': undefined },
      { ...headers, 'webhook-signature': headers['webhook-signature'].replace('v1,', 'v2,') },
      { ...headers, 'webhook-signature': `${headers['webhook-signature']}zz` },
      { ...headers, 'webhook-signature': headers['webhook-signature'].slice(3) },
    ];
    expect(others.filter((each) => isRight(each))).to.equal([]);
  });

  it('never verifies with the empty key that a malformed secret decodes to', () => {
    const malformed = ['whsec_', 'whsec_A', 'whsec_%%%%', 'whsec_====', 'whsec_ '];
    expect(malformed.filter((key) => isRight(signedWith(''), sentAt, key))).to.equal([]);
  });
});

describe('Stripe’s signature', () => {
  const secret = 'whsec_stripe_uses_it_as_it_is';
  const body = '{"id":"evt_1"}';
  const at = 1_700_000_000;
  const mac = hmac(secret, String(at), body).toString('hex');
  const isRight = (header: string, now = at * 1000): boolean =>
    verifySignature(keyOf(secret), Buffer.from(body), { 'stripe-signature': header }, now) ===
    'stripe';

  it('verifies any v1 of the header', () => {
    expect(isRight(`t=${at},v1=${mac}`)).to.be.true();
    expect(isRight(`t=${at}, v1=${'0'.repeat(64)}, v1=${mac}, v0=ff`)).to.be.true();
  });

  it('holds for five minutes, before and after', () => {
    const seconds = [-301, -300, 300, 301];
    const held = seconds.map((s) => isRight(`t=${at},v1=${mac}`, (at + s) * 1000));
    expect(held).to.equal([false, true, true, false]);
  });

  it('is refused in any other spelling', () => {
    const spellings = [
      '',
      `v1=${mac}`,
      `t=${at + 1},v1=${mac}`,
      `t=${at},v1=${mac}zz`,
      `t=${at},v0=${mac}`,
      `t=,v1=${mac}`,
      `t=${at},v1=${mac}${','.repeat(5000)}`,
    ];
    expect(spellings.filter((each) => isRight(each))).to.equal([]);
  });
});
