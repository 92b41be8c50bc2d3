import { createHash, createHmac, createSecretKey, generateKeyPairSync, sign } from 'node:crypto';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createSignatureRecipe } from '../../../src/hooks/senders/open.js';
import { PRESETS, type PresetName } from '../../../src/hooks/senders/presets.js';
import type { SignatureRecipe } from '../../../src/hooks/senders/recipe.js';
import { isSignedBy } from '../../../src/hooks/senders/verify.js';
import { check, isFormSigned, type Vector } from './vectors.js';

export const lab = Lab.script();
const { describe, it } = lab;

const NOW = Date.parse('2026-03-01T12:00:00Z');

const STANDARD = 1_614_265_330;
const SVIX = 1_731_705_121;
const SLACK = 1_531_420_618;

/** Published: each with the page that prints it. */
const PUBLISHED: Record<string, Vector> = {
  'GitHub: Validating webhook deliveries': {
    preset: 'github',
    secret: "It's a Secret to Everybody",
    body: 'Hello, World!',
    headers: {
      'x-hub-signature-256':
        'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    },
  },
  'Atlassian: Securing webhooks, of Jira and Bitbucket': {
    preset: 'jira',
    secret: "It's a Secret to Everybody",
    body: 'Hello World!',
    headers: {
      'x-hub-signature': 'sha256=a4771c39fbe90f317c7824e83ddef3caae9cb3d976c214ace1f2937e133263c9',
    },
  },
  'Slack: Verifying requests from Slack': {
    preset: 'slack',
    secret: '8f742231b10e8888abcd99yyyzzz85a5',
    at: SLACK * 1000,
    body:
      'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow' +
      '&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner' +
      '&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands' +
      '%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN' +
      '&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
    headers: {
      'x-slack-request-timestamp': String(SLACK),
      'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    },
  },
  'Standard Webhooks: the libraries’ test vector': {
    preset: 'standard-webhooks',
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    at: STANDARD * 1000,
    body: '{"test": 2432232314}',
    headers: {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': String(STANDARD),
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
  },
  'Svix: Verifying webhooks manually': {
    preset: 'svix',
    secret: 'whsec_plJ3nmyCDGBKInavdOK15jsl',
    at: SVIX * 1000,
    body: '{"event_type":"ping","data":{"success":true}}',
    headers: {
      'svix-id': 'msg_loFOjxBNrRLzqYUf',
      'svix-timestamp': String(SVIX),
      'svix-signature': 'v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=',
    },
  },
  'Twilio: Webhooks security': {
    preset: 'twilio',
    secret: '12345',
    url: 'https://mycompany.com/myapp.php?foo=1&bar=2',
    body: new URLSearchParams({
      CallSid: 'CA1234567890ABCDE',
      Caller: '+12349013030',
      Digits: '1234',
      From: '+12349013030',
      To: '+18005551212',
    }).toString(),
    headers: {
      'content-type': 'application/x-www-form-urlencoded; charset=UTF-8',
      'x-twilio-signature': '0/KCTR6DLpKmkAf8muzZqo1nDgQ=',
    },
  },
};

describe('a preset', () => {
  for (const [name, vector] of Object.entries(PUBLISHED)) {
    it(`verifies what is published: ${name}`, () => {
      expect(check(vector)).to.be.true();
      expect(check({ ...vector, body: `${vector.body} ` })).to.be.false();
      expect(check({ ...vector, secret: `${vector.secret}x` })).to.be.false();
      if (vector.at === undefined) return;
      expect(check({ ...vector, at: vector.at + 300_001 })).to.be.false();
      expect(check({ ...vector, at: vector.at + 299_000 })).to.be.true();
    });
  }

  it('verifies an Ed25519 signature under the public key of the sender', () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex');
    const body = '{"type":0}';
    const at = 1_700_000_000;
    const signature = sign(null, Buffer.from(`${at}${body}`), privateKey).toString('hex');
    const headers = { 'x-signature-ed25519': signature, 'x-signature-timestamp': String(at) };
    const vector: Vector = { preset: 'discord', secret: raw, headers, body, at: at * 1000 };
    expect(check(vector)).to.be.true();
    expect(check({ ...vector, body: '{"type":1}' })).to.be.false();
    expect(check({ ...vector, secret: 'not a key' })).to.be.false();
  });

  it('verifies nothing under a public key of small order', () => {
    // The identity: R is the identity too, and s is 0.
    const identity = `01${'00'.repeat(31)}`;
    const headers = {
      'x-signature-ed25519': `${identity}${'00'.repeat(32)}`,
      'x-signature-timestamp': '1700000000',
    };
    const vector: Vector = { preset: 'discord', secret: identity, headers, body: '{"type":0}' };
    expect(check({ ...vector, at: 1_700_000_000_000 })).to.be.false();
  });

  it('verifies pairs and lists with several signatures, of which one is right', () => {
    const body = '{"id":"evt_1"}';
    const at = 1_700_000_000;
    const hex = (text: string) => createHmac('sha256', 'secret').update(text).digest('hex');
    const other = '0'.repeat(64);
    const stripe = `t=${at},v1=${other},v1=${hex(`${at}.${body}`)},v0=${other}`;
    const of = (preset: PresetName, header: string, value: string): boolean =>
      check({ preset, secret: 'secret', headers: { [header]: value }, body, at: at * 1000 });
    expect(of('stripe', 'stripe-signature', stripe)).to.be.true();
    expect(
      of('stripe', 'stripe-signature', stripe.replace(`t=${at}`, `t=${at + 1}`)),
    ).to.be.false();
    const pagerduty = `v1=${other},v1=${hex(body)}`;
    expect(of('pagerduty', 'x-pagerduty-signature', pagerduty)).to.be.true();
    expect(of('pagerduty', 'x-pagerduty-signature', `v1=${other},v2=${hex(body)}`)).to.be.false();
    const buildkite = `timestamp=${at},signature=${hex(`${at}.${body}`)}`;
    expect(of('buildkite', 'x-buildkite-signature', buildkite)).to.be.true();
  });

  it('verifies no body of Twilio whose hash is not in the address and that is no form', () => {
    const secret = '12345';
    const url = 'https://hooks.example.org/api/webhooks/twilio';
    const of = (address: string, type: string, body: string, signed = address): boolean => {
      const signature = createHmac('sha1', secret).update(signed).digest('base64');
      const headers = { 'content-type': type, 'x-twilio-signature': signature };
      return check({ preset: 'twilio', secret, url: address, body, headers });
    };
    const hashed = `${url}?bodySHA256=${createHash('sha256').update('{"a":1}').digest('hex')}`;
    const form = 'application/x-www-form-urlencoded';
    expect(of(hashed, 'application/json', '{"a":1}')).to.be.true();
    expect(of(hashed, 'application/json', '{"a":2}')).to.be.false();
    expect(of(hashed, form, 'a=1', `${hashed}a1`)).to.be.false();
    expect(of(url, 'application/json', '{"a":1}')).to.be.false();
    expect(of(url, 'application/json', 'a=1', `${url}a1`)).to.be.false();
    expect(of(url, form, 'b=2&a=1&a=0', `${url}a0a1b2`)).to.be.true();
  });

  it('takes no part of an id for a part of the time behind it', () => {
    const secret = '12345678';
    const verify = {
      ...{ header: 'x-sig', signed: '{id}{timestamp}{body}', idFrom: 'headers.x-id' },
      timestampHeader: 'x-time',
    };
    const time = Math.floor(NOW / 1000);
    const signature = createHmac('sha256', secret).update(`m10${time}{}`).digest('hex');
    const of = (id: string, at: string) =>
      isSignedBy(createSignatureRecipe(verify), createSecretKey(Buffer.from(secret)), {
        headers: { 'x-sig': signature, 'x-id': id, 'x-time': at },
        body: Buffer.from('{}'),
        url: null,
        now: NOW,
      });
    expect([of('m10', `${time}`), of('m1', `0${time}`)]).to.equal([true, false]);
    expect(createSignatureRecipe({ ...verify, signed: '{timestamp}.{id}{body}' }).bodies).to.equal([
      'json',
    ]);
  });

  it('reads a form of many fields, and none of too many', () => {
    const values = Array.from({ length: 1000 }, (_, at) => String(at).padStart(4, '0'));
    const form = values.map((each) => `a=${each}`).join('&');
    const signed = values.map((each) => `a${each}`).join('');
    expect(isFormSigned(form, signed)).to.be.true();
    expect(isFormSigned(`${form}&a=0000`, signed)).to.be.false();
    expect(isFormSigned('a&'.repeat(60_000), 'a')).to.be.false();
    expect(
      isFormSigned(Array.from({ length: 15_000 }, (_, at) => `a=${at}`).join('&'), ''),
    ).to.be.false();
  });

  it('opens a key once for all the signatures that are listed', () => {
    const key = createSecretKey(Buffer.from('a key in base64'));
    let opened = 0;
    const value = () => {
      opened++;
      return Buffer.from('c2VjcmV0');
    };
    Object.defineProperty(key, 'export', { value });
    const header = Array(16)
      .fill(`v1=${'0'.repeat(64)}`)
      .join(',');
    const request = { body: Buffer.from('{}'), url: null, now: 0 };
    const headers = { 'x-pagerduty-signature': header };
    const recipe: SignatureRecipe = { ...PRESETS.pagerduty, key: 'base64' };
    expect(isSignedBy(recipe, key, { ...request, headers })).to.be.false();
    expect(opened).to.equal(1);
  });

  it('takes the time from a body that is signed with it', () => {
    const at = 1_700_000_000_000;
    const of = (payload: object): boolean => {
      const body = JSON.stringify(payload);
      const signature = createHmac('sha256', 'secret').update(body).digest('hex');
      const headers = { 'linear-signature': signature };
      return check({ preset: 'linear', secret: 'secret', headers, body, at });
    };
    expect(of({ webhookTimestamp: at - 299_000 })).to.be.true();
    expect(of({ webhookTimestamp: at - 301_000 })).to.be.false();
    expect(of({ webhookTimestamp: [at] })).to.be.false();
    expect(of({})).to.be.false();
  });

  it('takes a token, and a user with a password, as the whole header', () => {
    const body = '{}';
    const basic = `Basic ${Buffer.from('ada:secret word').toString('base64')}`;
    const of = (preset: PresetName, secret: string, header: string, value: string): boolean =>
      check({ preset, secret, headers: { [header]: value }, body });
    expect(of('gitlab', 'word', 'x-gitlab-token', 'word')).to.be.true();
    expect(of('gitlab', 'word', 'x-gitlab-token', 'wor')).to.be.false();
    expect(of('basic', 'ada:secret word', 'authorization', basic)).to.be.true();
    expect(of('basic', 'ada:secret', 'authorization', basic)).to.be.false();
  });
});
