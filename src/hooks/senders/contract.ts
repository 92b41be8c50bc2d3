import * as s from '../../kernel/contract/schema.js';
import { PRESET_NAMES } from './presets.js';
import { BODY_FORMS, ENCODINGS } from './recipe.js';

const header = () => s.text(100).pattern(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'the name of a header');
/** The ARN of a topic of SNS. */
export const TOPIC_ARN =
  /^arn:aws[a-z-]*:sns:[a-z]{2,4}(?:-[a-z]+)+-\d{1,2}:\d{12}:[\w-]{1,256}(?:\.fifo)?$/;
/** The place of a value in a request. */
const place = () =>
  s
    .text(200)
    .pattern(/^(?:headers\.[A-Za-z0-9_-]+|body(?:\.[^.\s]+)+)$/, 'headers.<name> or body.<path>');

/** The signature of a sender: its preset, or what it signs. See `SignatureRecipe`. */
const Signature = s
  .object('SenderSignature', {
    preset: s.optional(s.oneOf('NamedSender', ...PRESET_NAMES)),
    header: s.optional(header().description('With the signature or the token')),
    prefix: s.optional(s.text(40).example('sha256=')),
    algorithm: s.optional(
      s.oneOf('SignatureAlgorithm', 'sha1', 'sha256', 'sha512', 'ed25519', 'token', 'basic'),
    ),
    encoding: s.optional(s.oneOf('SignatureEncoding', ...ENCODINGS)),
    signed: s.optional(s.text(200).example('{timestamp}.{body}')),
    timestampHeader: s.optional(header()),
    timestampFrom: s.optional(
      s
        .text(200)
        .pattern(/^body(?:\.[^.\s]+)+$/, 'body.<path>')
        .example('body.sentAt'),
    ),
    toleranceSeconds: s.optional(s.whole(30, 3600)),
    idFrom: s.optional(place().description('The id of a delivery: headers.<name>, body.<path>')),
    eventFrom: s.optional(place().description('The name of its event, likewise')),
    key: s.optional(s.oneOf('SecretForm', 'raw', 'base64', 'whsec')),
    format: s.optional(s.oneOf('SignatureFormat', 'plain', 'pairs', 'list')),
    parts: s.optional(s.object('SignatureParts', { timestamp: s.text(40), signature: s.text(40) })),
    topicArn: s.optional(
      s
        .text(400)
        .pattern(TOPIC_ARN, 'the ARN of a topic')
        .description('Of the preset sns: the topic whose messages are taken'),
    ),
    bodies: s.optional(s.list(s.oneOf('BodyForm', ...BODY_FORMS), 3).min(1)),
  })
  .min(1);

/** A hook's `triggerConfig.verify`: the name of a preset, or an object. */
export const SenderVerification = s.textOr(
  'SenderVerification',
  s.oneOf('SenderPreset', ...PRESET_NAMES),
  Signature,
);
export type SenderVerification = s.Static<typeof SenderVerification>;

export const ReceivedToken = s.object('ReceivedToken', {
  token: s.text(200),
  receivedAt: s.time(),
});

/** A token that a sender makes and sends once, before its owner has confirmed it. */
export const AwaitedToken = s.object('AwaitedToken', {
  until: s
    .nullable(s.time())
    .description('The time until which one is taken; null: none is awaited'),
  token: s.nullable(s.text(200)).description('The newest that came; nobody has confirmed it yet'),
  receivedAt: s.nullable(s.time()),
  earlier: s
    .list(ReceivedToken, 4)
    .description('Those that came before it, newest first: the sender accepts one of them all'),
});

export const ConfirmedToken = s.object('ConfirmedToken', {
  token: s.text(200).description('As shown, and as the sender accepted it'),
});
