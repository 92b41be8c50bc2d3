import { hash, verify, X509Certificate } from 'node:crypto';
import { isRecord, parsedJson, textAt } from '../../kernel/jsonvalue.js';
import { isNear } from './verify.js';

/** Not verified yet. */
export interface SnsMessage {
  fields: Record<string, string>;
  signedText: string;
  signature: string;
  algorithm: string;
  certificateUrl: string;
}

/** A verified message: its topic, and SHA-256 of the signed text in hex. */
export interface SnsProof {
  topicArn: string;
  digest: string;
}

/** In bytes. SNS sends at most 256 KiB of text. */
const MAX_BYTES = 1024 * 1024;
/** SNS retries for an hour. 5 minutes are for clock differences. */
const TOLERANCE_S = 65 * 60;

const OF_CONFIRMATION = [
  ...['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
];
/** By message type, in signing order. */
const SIGNED_FIELDS = new Map([
  ['Notification', ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']],
  ['SubscriptionConfirmation', OF_CONFIRMATION],
  ['UnsubscribeConfirmation', OF_CONFIRMATION],
]);
const OPTIONAL_FIELD = 'Subject';
/** The only field with several lines. A field with an ambiguous end would allow forgery. */
const LONG_FIELD = 'Message';
const ALGORITHMS = new Map([
  ['1', 'RSA-SHA1'],
  ['2', 'RSA-SHA256'],
]);
const CERTIFICATE_PATH = /^SimpleNotificationService-[0-9a-f]{1,64}\.pem$/;

/**
 * Null if the body is not such a message, or if another message could have the same signed text.
 */
export const parseSnsMessage = (topicArns: string[], body: Buffer): SnsMessage | null => {
  // Requests without a known topic are not parsed.
  if (body.length > MAX_BYTES || !topicArns.some((each) => body.includes(each))) return null;
  const value = parsedJson(body.toString('utf8'));
  const topicArn = topicArns.find((each) => each === textAt(value, 'TopicArn'));
  return isRecord(value) && topicArn !== undefined ? messageIn(value, topicArn) : null;
};

const messageIn = (body: Record<string, unknown>, topicArn: string): SnsMessage | null => {
  const names = SIGNED_FIELDS.get(textAt(body, 'Type') ?? '');
  const algorithm = ALGORITHMS.get(textAt(body, 'SignatureVersion') ?? '');
  const fields = names && signedFields(names, body);
  if (!fields || algorithm === undefined) return null;
  const signature = textAt(body, 'Signature');
  const certificateUrl = textAt(body, 'SigningCertURL');
  if (signature === null || !isCertificateUrl(topicArn, certificateUrl)) return null;
  const signedText = Object.entries(fields)
    .map(([name, value]) => `${name}\n${value}\n`)
    .join('');
  return { fields, signedText, signature, algorithm, certificateUrl };
};

const signedFields = (
  names: string[],
  body: Record<string, unknown>,
): Record<string, string> | null => {
  const present = names.filter((name) => name !== OPTIONAL_FIELD || Object.hasOwn(body, name));
  const fields = present.flatMap((name) => {
    const value = body[name];
    const isFit = typeof value === 'string' && (name === LONG_FIELD || !value.includes('\n'));
    return isFit ? [[name, value] as const] : [];
  });
  return fields.length === present.length ? Object.fromEntries(fields) : null;
};

const buildSnsEndpointUrl = (topicArn: string): string => {
  const [, partition, , region] = topicArn.split(':');
  return `https://sns.${region}.amazonaws.com${partition === 'aws-cn' ? '.cn' : ''}/`;
};

const isCertificateUrl = (topicArn: string, url: string | null): url is string => {
  const address = buildSnsEndpointUrl(topicArn);
  return url?.startsWith(address) === true && CERTIFICATE_PATH.test(url.slice(address.length));
};

export const isConfirmation = (topicArn: string, url: string): boolean => {
  const start = `${buildSnsEndpointUrl(topicArn)}?`;
  if (!url.startsWith(start)) return false;
  const query = new URLSearchParams(url.slice(start.length));
  const [action, ...moreActions] = query.getAll('Action');
  const [topic, ...moreTopics] = query.getAll('TopicArn');
  const isSingle = moreActions.length === 0 && moreTopics.length === 0;
  return isSingle && action === 'ConfirmSubscription' && topic === topicArn;
};

/**
 * See Amazon SNS: Verifying the signatures of Amazon SNS messages. Null if the signature is invalid
 * or too old.
 */
export const verifySnsMessage = (
  message: SnsMessage,
  certificate: string,
  now: number,
): SnsProof | null => {
  const { fields, signedText, algorithm } = message;
  const { TopicArn: topicArn = '', Timestamp: timestamp } = fields;
  const signature = Buffer.from(message.signature, 'base64');
  // Node would ignore further characters.
  if (signature.toString('base64') !== message.signature) return null;
  if (!isNear(timestamp, now, TOLERANCE_S)) return null;
  const { publicKey } = new X509Certificate(certificate);
  const isSigned = verify(algorithm, Buffer.from(signedText), publicKey, signature);
  return isSigned ? { topicArn, digest: hash('sha256', signedText, 'hex') } : null;
};
