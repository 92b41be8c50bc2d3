import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  eventInBody,
  eventOf,
  keptHeaders,
  secretsOf,
  senderIdOf,
} from '../../../src/runtime/inbox/headers.js';

export const lab = Lab.script();
const { describe, it } = lab;

const ORDER = ['x-github-delivery', 'x-gitea-delivery', 'webhook-id', 'svix-id', 'idempotency-key'];

describe('senderIdOf', () => {
  it('takes the first of the known headers', () => {
    for (const [at, name] of ORDER.entries()) {
      const rest = ORDER.slice(at).toReversed();
      const headers = Object.fromEntries(rest.map((each) => [each, `id of ${each}`]));
      expect(senderIdOf(headers)).to.equal(`id of ${name}`);
    }
  });

  it('takes GitLab’s Idempotency-Key first, then its ids', () => {
    const ids = { 'x-gitlab-event-uuid': 'event', 'x-gitlab-webhook-uuid': 'webhook' };
    expect(senderIdOf({ ...ids, 'idempotency-key': 'key' })).to.equal('key');
    expect(senderIdOf(ids)).to.equal('event');
    expect(senderIdOf({ 'x-gitlab-webhook-uuid': 'webhook' })).to.equal('webhook');
    expect(senderIdOf({ 'x-gitlab-event': 'Push Hook', 'idempotency-key': 'key' })).to.equal('key');
  });

  it('passes over blank ones, and bounds the rest', () => {
    expect(senderIdOf({ 'x-github-delivery': ' ', 'webhook-id': ' a ' })).to.equal('a');
    expect(senderIdOf({ 'webhook-id': 'x'.repeat(5000) })).to.equal('x'.repeat(200));
    expect(senderIdOf({})).to.be.null();
  });
});

describe('eventOf', () => {
  it('is one clean line of at most 100 characters', () => {
    expect(eventOf({ 'x-github-event': '\u200b is\u0000su\u2028es\u009f ' })).to.equal('issues');
    expect(eventOf({ 'x-gitlab-event': 'y'.repeat(101) })).to.equal('y'.repeat(100));
    expect(eventOf({ 'x-github-event': '', 'x-gitea-event': 'push' })).to.equal('push');
    expect(eventOf({ 'x-github-event': '\u0007' })).to.be.null();
  });
});

describe('eventInBody', () => {
  const STRIPE = { 'stripe-signature': 't=1,v1=x' };
  const of = (payload: unknown) => eventInBody(STRIPE, JSON.stringify(payload));

  it('is the type that Stripe writes there, as clean and as short as one in a header', () => {
    expect(of({ type: ' refund\u0000.cre\u2028ated' })).to.equal('refund.created');
    expect(of({ type: 'y'.repeat(101) })).to.equal('y'.repeat(100));
    expect(of({ type: `${'y'.repeat(99)}\u{1f4b8}` })).to.equal('y'.repeat(99));
    expect(of({ type: '\ud800' })).to.be.null();
  });

  it('is none where that is no text, or another sent it', () => {
    for (const payload of [{}, { type: 7 }, { type: null }, { type: ['a'] }, { type: ' ' }, []]) {
      expect(of(payload)).to.be.null();
    }
    expect(eventInBody({ 'webhook-signature': 'v1,x' }, '{"type":"a"}')).to.be.null();
  });
});

describe('keptHeaders', () => {
  it('drops what proves or opens something', () => {
    const headers = {
      'content-type': 'application/json',
      'x-github-event': 'push',
      authorization: 'x',
      'proxy-authorization': 'x',
      'x-hub-signature-256': 'x',
      'svix-signature': 'x',
      'x-slack-signature': 'x',
      'x-shopify-hmac-sha256': 'x',
      'x-my-api-key': 'x',
      'x-csrf-token': 'x',
      'set-cookie': 'x',
      absent: undefined,
    };
    expect(keptHeaders(headers)).to.equal({
      'content-type': 'application/json',
      'x-github-event': 'push',
    });
  });
});

describe('secretsOf', () => {
  it('gives the bytes that were sent, of every header that holds one', () => {
    const secrets = secretsOf({
      authorization: 'bearer one',
      'x-webhook-secret': Buffer.from('zwö').toString('latin1'),
      'x-gitlab-token': '',
    });
    expect(secrets.map(String)).to.equal(['one', 'zwö', '']);
    expect(secretsOf({ authorization: 'Basic abc' })).to.equal([]);
  });
});
