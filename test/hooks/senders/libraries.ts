import { validateSignature } from '@line/bot-sdk';
import { LinearWebhookClient } from '@linear/sdk/webhooks';
import { Mux } from '@mux/mux-node';
import { verifyWebhookSignature } from '@notionhq/client';
import { verify as verifyGithub } from '@octokit/webhooks-methods';
import { Paddle } from '@paddle/paddle-node-sdk';
import { isValidSignature } from '@sanity/webhook';
import { verifySlackRequest } from '@slack/bolt';
import { verifyKey } from 'discord-interactions';
import { parse as parseGocardless } from 'gocardless-nodejs';
import Razorpay from 'razorpay';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { Webhook as SvixWebhook } from 'svix';
import twilio from 'twilio';

/** A request for the library of its sender, with lower-case names of headers. */
export interface LibraryRequest {
  secret: string;
  url: string;
  headers: Record<string, string>;
  body: string;
}

type LibraryVerdict = boolean | void | object;
/** Returns false or throws if the library refuses the request. */
type LibraryVerifier = (request: LibraryRequest) => LibraryVerdict | Promise<LibraryVerdict>;

const header = ({ headers }: LibraryRequest, name: string): string => headers[name] ?? '';

/** The senders' own libraries, by the names of the senders. */
export const libraries: Record<string, LibraryVerifier> = {
  github: (r) => verifyGithub(r.secret, r.body, header(r, 'x-hub-signature-256')),
  stripe: (r) =>
    new Stripe('sk_test').webhooks.constructEvent(r.body, header(r, 'stripe-signature'), r.secret),
  'standard-webhooks': ({ secret, body, headers }) =>
    Boolean(new StandardWebhook(secret).verify(body, headers)),
  svix: ({ secret, body, headers }) => Boolean(new SvixWebhook(secret).verify(body, headers)),
  slack: (r) =>
    verifySlackRequest({
      signingSecret: r.secret,
      body: r.body,
      headers: {
        'x-slack-signature': header(r, 'x-slack-signature'),
        'x-slack-request-timestamp': Number(header(r, 'x-slack-request-timestamp')),
      },
    }),
  linear: (r) =>
    new LinearWebhookClient(r.secret).parseData(
      Buffer.from(r.body),
      header(r, 'linear-signature'),
      Number(JSON.parse(r.body).webhookTimestamp),
    ),
  discord: (r) =>
    verifyKey(
      r.body,
      header(r, 'x-signature-ed25519'),
      header(r, 'x-signature-timestamp'),
      r.secret,
    ),
  notion: (r) =>
    verifyWebhookSignature({
      body: r.body,
      signature: header(r, 'x-notion-signature'),
      verificationToken: r.secret,
    }),
  twilio: (r) =>
    twilio.validateRequest(r.secret, header(r, 'x-twilio-signature'), r.url, fieldsOf(r.body)),
  'twilio-json': (r) =>
    twilio.validateRequestWithBody(r.secret, header(r, 'x-twilio-signature'), r.url, r.body),
  paddle: (r) =>
    new Paddle('key').webhooks.isSignatureValid(r.body, r.secret, header(r, 'paddle-signature')),
  line: (r) => validateSignature(r.body, r.secret, header(r, 'x-line-signature')),
  mux: ({ secret, body, headers }) =>
    new Mux({ tokenId: 'id', tokenSecret: 'x' }).webhooks.verifySignature(body, headers, secret),
  razorpay: (r) =>
    Razorpay.validateWebhookSignature(r.body, header(r, 'x-razorpay-signature'), r.secret),
  sanity: (r) => isValidSignature(r.body, header(r, 'sanity-webhook-signature'), r.secret),
  gocardless: (r) => parseGocardless(r.body, r.secret, header(r, 'webhook-signature')),
};

const fieldsOf = (body: string): Record<string, string | string[]> => {
  const fields = new URLSearchParams(body);
  return Object.fromEntries([...fields.keys()].map((name) => [name, valuesIn(fields, name)]));
};

const valuesIn = (fields: URLSearchParams, name: string): string | string[] => {
  const [first = '', ...more] = fields.getAll(name);
  return more.length > 0 ? [first, ...more] : first;
};
