import { createSecretKey, generateKeyPairSync } from 'node:crypto';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { signWebhookPayload } from '@notionhq/client';
import { sign as signGithub } from '@octokit/webhooks-methods';
import { encodeSignatureHeader } from '@sanity/webhook';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { Webhook as SvixWebhook } from 'svix';
import twilio from 'twilio';
import { createSignatureRecipe } from '../../../src/hooks/senders/open.js';
import { signedRequest } from '../../../src/hooks/senders/sign.js';
import { isSignedBy } from '../../../src/hooks/senders/verify.js';
import { type LibraryRequest, libraries } from './libraries.js';
import { type ScriptedRequest, signedByScript, verifyOf } from './signers.js';

export const lab = Lab.script();
const { describe, it } = lab;

const ADDRESS = 'https://hooks.example.org/api/webhooks/<sender>';
const BODY = '{"id":"evt_1","object":"event","events":[],"webhookTimestamp":1}';
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
/** Paddle's library takes nothing older than 5 s, and Linear's nothing a minute off. */
const AHEAD_MS = 30_000;
/** Their libraries take another form of header or of time than `hooks send` gives. */
const NOT_SENT = ['paddle', 'sanity', 'discord', 'twilio'];

const accepts = async (sender: string, request: LibraryRequest): Promise<boolean> => {
  try {
    return (await libraries[sender]?.(request)) !== false;
  } catch {
    return false;
  }
};

const lowered = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

describe('the libraries of senders', () => {
  it('accept what the script signs as them, and none of its forgeries', async () => {
    const signed = signedByScript(ADDRESS, Date.now() + AHEAD_MS);
    const faults: string[] = [];
    for (const { sender, secret, requests } of signed) {
      if (!libraries[sender]) continue;
      const url = ADDRESS.replace('<sender>', sender);
      const { valid, otherSecret, otherBody } = requests;
      for (const [sent, isRight] of [
        [valid, true],
        [otherSecret, false],
        [otherBody, false],
      ] as const) {
        const given = requestOf(sent, { secret, url });
        if ((await accepts(sender, given)) !== isRight) faults.push(`${sender}: ${isRight}`);
      }
    }
    expect(faults).to.equal([]);
    expect(Object.keys(libraries).length).to.be.at.least(15);
  });

  const requestOf = (
    sent: ScriptedRequest | undefined,
    { secret, url }: { secret: string; url: string },
  ): LibraryRequest => ({
    secret,
    url: url + (sent?.query ?? ''),
    headers: lowered(sent?.headers ?? {}),
    body: Buffer.from(sent?.body ?? '', 'base64').toString(),
  });

  it('accept what hooks send signs as them', async () => {
    const faults: string[] = [];
    for (const sender of Object.keys(libraries).filter((name) => !NOT_SENT.includes(name))) {
      const request = { url: ADDRESS, contentType: 'application/json', id: 'msg_1' };
      const sent = signedRequest(createSignatureRecipe(verifyOf(sender)), SECRET, {
        ...request,
        body: Buffer.from(BODY),
        now: Date.now(),
      });
      const given = { ...sent, secret: SECRET, body: sent.body.toString() };
      if (!(await accepts(sender, given))) faults.push(sender);
      if (await accepts(sender, { ...given, body: `${given.body} ` }))
        faults.push(`${sender}: any`);
    }
    expect(faults).to.equal([]);
  });

  it('accept a form and an Ed25519 signature of hooks send', async () => {
    const form = { secret: SECRET, url: ADDRESS, body: 'From=%2B49170&Body=a+b&Body=a+b' };
    const twilioSent = signedRequest(createSignatureRecipe('twilio'), SECRET, {
      ...{ url: ADDRESS, contentType: 'application/x-www-form-urlencoded', id: '1' },
      ...{ body: Buffer.from(form.body), now: Date.now() },
    });
    expect(await accepts('twilio', { ...form, headers: twilioSent.headers })).to.be.true();
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const secret = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex');
    const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
    const sent = signedRequest(createSignatureRecipe('discord'), pem, {
      ...{ url: ADDRESS, contentType: 'application/json', id: '1' },
      ...{ body: Buffer.from(BODY), now: Date.now() },
    });
    const given = { secret, url: ADDRESS, headers: sent.headers, body: BODY };
    expect(await accepts('discord', given)).to.be.true();
    expect(await accepts('discord', { ...given, body: `${BODY} ` })).to.be.false();
  });
});

describe('what a library of a sender signs', () => {
  const now = Date.now();
  const at = Math.floor(now / 1000);
  const url = ADDRESS;

  const isVerified = (sender: string, headers: Record<string, string>, body = BODY): boolean =>
    isSignedBy(createSignatureRecipe(verifyOf(sender)), createSecretKey(Buffer.from(SECRET)), {
      ...{ headers, body: Buffer.from(body), url, now },
    });

  const check = (sender: string, headers: Record<string, string>, body = BODY): void => {
    expect(isVerified(sender, headers, body), sender).to.be.true();
    expect(isVerified(sender, headers, `${body} `), `${sender}: another body`).to.be.false();
  };

  it('is verified', async () => {
    check('github', { 'x-hub-signature-256': await signGithub(SECRET, BODY) });
    const stripe = { payload: BODY, secret: SECRET, timestamp: at };
    const { webhooks } = new Stripe('sk_test');
    check('stripe', { 'stripe-signature': webhooks.generateTestHeaderString(stripe) });
    for (const [sender, prefix, signer] of [
      ['standard-webhooks', 'webhook', new StandardWebhook(SECRET)],
      ['svix', 'svix', new SvixWebhook(SECRET)],
    ] as const) {
      const signature = signer.sign('msg_1', new Date(at * 1000), BODY);
      const names = { id: 'msg_1', timestamp: String(at), signature };
      const pairs = Object.entries(names).map(([name, value]) => [`${prefix}-${name}`, value]);
      check(sender, Object.fromEntries(pairs));
    }
    const notion = await signWebhookPayload({ body: BODY, verificationToken: SECRET });
    check('notion', { 'x-notion-signature': notion });
    const sanity = await encodeSignatureHeader(BODY, now, SECRET);
    check('sanity', { 'sanity-webhook-signature': sanity });
    const fields = { From: '+49170', Body: 'a b', Media: ['z', 'a', 'z'] };
    const signature = twilio.getExpectedTwilioSignature(SECRET, url, fields);
    const type = 'application/x-www-form-urlencoded';
    const form = 'From=%2B49170&Media=z&Media=a&Media=z&Body=a+b';
    check('twilio', { 'content-type': type, 'x-twilio-signature': signature }, form);
  });
});
