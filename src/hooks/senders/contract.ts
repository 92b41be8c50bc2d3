import * as s from '../../kernel/contract/schema.js';
import { PRESET_NAMES } from './presets.js';
import { BODY_FORMS, ENCODINGS } from './recipe.js';

const header = () => s.text(100).pattern(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'a header name');
export const TOPIC_ARN =
  /^arn:aws[a-z-]*:sns:[a-z]{2,4}(?:-[a-z]+)+-\d{1,2}:\d{12}:[\w-]{1,256}(?:\.fifo)?$/;
const place = () =>
  s
    .text(200)
    .pattern(/^(?:headers\.[A-Za-z0-9_-]+|body(?:\.[^.\s]+)+)$/, 'headers.<name> or body.<path>');

/** See `SignatureRecipe`. */
const Signature = s
  .object('SenderSignature', {
    preset: s.optional(s.oneOf('NamedSender', ...PRESET_NAMES)),
    header: s.optional(header().description('Header with the signature or token')),
    prefix: s.optional(
      s.text(40).example('sha256=').description('Text before the signature in the header'),
    ),
    algorithm: s.optional(
      s.oneOf('SignatureAlgorithm', 'sha1', 'sha256', 'sha512', 'ed25519', 'token', 'basic'),
    ),
    encoding: s.optional(s.oneOf('SignatureEncoding', ...ENCODINGS)),
    signed: s.optional(
      s.text(200).example('{timestamp}.{body}').description('Template of the signed text'),
    ),
    timestampHeader: s.optional(header().description('Header with the time of the signature')),
    timestampFrom: s.optional(
      s
        .text(200)
        .pattern(/^body(?:\.[^.\s]+)+$/, 'body.<path>')
        .example('body.sentAt')
        .description('Location of the signature time in the body: `body.<path>`'),
    ),
    toleranceSeconds: s.optional(
      s
        .integer(30, 3600)
        .description('Maximum clock difference of a signature, in seconds. Defaults to 300'),
    ),
    idFrom: s.optional(
      place().description('Location of the delivery ID: `headers.<name>` or `body.<path>`'),
    ),
    eventFrom: s.optional(
      place().description('Location of the event name: `headers.<name>` or `body.<path>`'),
    ),
    key: s.optional(s.oneOf('SecretForm', 'raw', 'base64', 'whsec')),
    format: s.optional(s.oneOf('SignatureFormat', 'plain', 'pairs', 'list')),
    parts: s.optional(s.object('SignatureParts', { timestamp: s.text(40), signature: s.text(40) })),
    topicArn: s.optional(
      s
        .text(400)
        .pattern(TOPIC_ARN, 'an SNS topic ARN')
        .description('SNS topic to accept messages from. Required for the preset `sns`'),
    ),
    bodies: s.optional(s.list(s.oneOf('BodyForm', ...BODY_FORMS), 3).min(1)),
  })
  .min(1);

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

export const AwaitedToken = s.object('AwaitedToken', {
  until: s
    .nullable(s.time())
    .description(
      'Time until which the hook accepts verification tokens. `null` if the hook is not waiting for a token',
    ),
  token: s
    .nullable(s.text(200))
    .description('Newest received token, not confirmed yet. `null` if none was received'),
  receivedAt: s
    .nullable(s.time())
    .description('Time at which the token was received. `null` if none was received'),
  earlier: s
    .list(ReceivedToken, 4)
    .description(
      'Up to 4 earlier tokens, newest first. The sender accepts only one of all received tokens',
    ),
});

export const ConfirmedToken = s.object('ConfirmedToken', {
  token: s
    .text(200)
    .description(
      'Verification token that the sender posted to the hook and then accepted as confirmed',
    ),
});
