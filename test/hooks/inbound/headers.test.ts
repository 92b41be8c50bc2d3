import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  deliveryEvent,
  readHeaderEvent,
  readSenderId,
  secretHeaders,
  storedHeaders,
} from '../../../src/hooks/inbound/headers.js';

export const lab = Lab.script();
const { describe, it } = lab;

const ORDER = ['x-github-delivery', 'x-gitea-delivery', 'idempotency-key', 'webhook-id', 'svix-id'];
const NONE = { id: null, type: null };
const unsignedIdOf = (headers: Record<string, string>) => readSenderId('github', headers, NONE);

describe('senderIdOf', () => {
  it('takes the first of the known headers where none is signed', () => {
    for (const [at, name] of ORDER.entries()) {
      const rest = ORDER.slice(at).toReversed();
      const headers = Object.fromEntries(rest.map((each) => [each, `id of ${each}`]));
      expect(unsignedIdOf(headers)).to.equal(`id of ${name}`);
      expect(readSenderId('secret', headers, { id: 'a', type: 'b' })).to.equal(`id of ${name}`);
    }
  });

  it('takes what the scheme signs before any header that it does not', () => {
    const headers = Object.fromEntries(ORDER.map((each) => [each, `id of ${each}`]));
    const body = { id: 'evt_1', type: null };
    expect(readSenderId('standard', headers, body)).to.equal('id of webhook-id');
    expect(readSenderId('svix', headers, body)).to.equal('id of svix-id');
    expect(readSenderId('stripe', headers, body)).to.equal('evt_1');
  });

  it('takes the signed time where Stripe signs a body without an id, and no header', () => {
    const unsigned = Object.fromEntries(ORDER.map((each) => [each, `id of ${each}`]));
    const headers = { ...unsigned, 'stripe-signature': 'v1=00, t=1700000000,v1=11,t=5' };
    for (const id of [null, '', ' \n']) {
      expect(readSenderId('stripe', headers, { id, type: null })).to.equal('t=1700000000');
    }
    // A blank of latin1: Node leaves it, and the scheme signs it.
    expect(readSenderId('standard', { ...headers, 'webhook-id': '\u00a0' }, NONE)).to.equal(
      '\u00a0',
    );
  });

  it('takes GitLab’s Idempotency-Key first, then its ids', () => {
    const ids = { 'x-gitlab-event-uuid': 'event', 'x-gitlab-webhook-uuid': 'webhook' };
    expect(unsignedIdOf({ ...ids, 'idempotency-key': 'key' })).to.equal('key');
    expect(unsignedIdOf(ids)).to.equal('event');
    expect(unsignedIdOf({ 'x-gitlab-webhook-uuid': 'webhook' })).to.equal('webhook');
    expect(unsignedIdOf({ 'x-gitlab-event': 'Push Hook', 'idempotency-key': 'key' })).to.equal(
      'key',
    );
  });

  it('passes over blank ones, and bounds the rest', () => {
    expect(unsignedIdOf({ 'x-github-delivery': ' ', 'webhook-id': ' a ' })).to.equal('a');
    expect(unsignedIdOf({ 'webhook-id': 'x'.repeat(5000) })).to.equal('x'.repeat(200));
    expect(readSenderId('stripe', {}, { id: 'x'.repeat(5000), type: null })).to.have.length(200);
    expect(unsignedIdOf({})).to.be.null();
  });
});

describe('eventOf', () => {
  const of = (type: string | null, headers: Record<string, string> = {}) =>
    deliveryEvent('stripe', headers, { id: null, type });

  it('is one clean line of at most 100 characters', () => {
    expect(readHeaderEvent({ 'x-github-event': '\u200b is\u0000su\u2028es\u009f ' })).to.equal(
      'issues',
    );
    expect(readHeaderEvent({ 'x-gitlab-event': 'y'.repeat(101) })).to.equal('y'.repeat(100));
    expect(readHeaderEvent({ 'x-github-event': '', 'x-gitea-event': 'push' })).to.equal('push');
    expect(readHeaderEvent({ 'x-github-event': '\u0007' })).to.be.null();
    expect(of(' refund\u0000.cre\u2028ated')).to.equal('refund.created');
    expect(of('y'.repeat(101))).to.equal('y'.repeat(100));
    expect(of(`${'y'.repeat(99)}\u{1f4b8}`)).to.equal('y'.repeat(99));
    expect(of('\ud800')).to.be.null();
  });

  it('is the type of the body where the scheme signs that, whatever a header says', () => {
    const headers = { 'x-github-event': 'header' };
    const body = { id: null, type: 'body' };
    for (const by of ['standard', 'svix', 'stripe'] as const) {
      expect(deliveryEvent(by, headers, body)).to.equal('body');
      expect(deliveryEvent(by, headers, NONE)).to.equal('header');
    }
    for (const by of ['github', 'secret'] as const) {
      expect(deliveryEvent(by, headers, body)).to.equal('header');
      expect(deliveryEvent(by, {}, body)).to.be.null();
    }
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
      'x-apikey': 'x',
      'x-functions-key': 'x',
      'x-amzn-oidc-data': 'x',
      'x-jwt': 'x',
      'x-client-assertion': 'x',
      'x-session-id': 'x',
      'x-sig': 'x',
      'x-pwd': 'x',
      'idempotency-key': 'd-1',
      'x-csrf-token': 'x',
      'set-cookie': 'x',
      absent: undefined,
    };
    const unkept = { holdsSecret: () => false, headers: [] };
    expect(storedHeaders(headers, unkept)).to.equal({
      'content-type': 'application/json',
      'x-github-event': 'push',
      'idempotency-key': 'd-1',
    });
  });
});

describe('secretsOf', () => {
  it('gives the bytes that were sent, of every header that holds one', () => {
    const secrets = secretHeaders({
      authorization: 'bearer one',
      'x-webhook-secret': Buffer.from('zwö').toString('latin1'),
      'x-gitlab-token': '',
    });
    expect(secrets.map(String)).to.equal(['one', 'zwö', '']);
    expect(secretHeaders({ authorization: 'Basic abc' })).to.equal([]);
  });
});
