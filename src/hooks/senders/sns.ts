import { hash, verify, X509Certificate } from 'node:crypto';
import { isRecord, parsedJson, textAt } from '../../kernel/jsonvalue.js';
import { isNear } from './verify.js';

/** A message of a topic of Amazon SNS. Nothing says yet that SNS signed it. */
export interface SnsMessage {
  /** The fields that SNS signs, by the names of its documents. */
  fields: Record<string, string>;
  signedText: string;
  signature: string;
  algorithm: string;
  /** The address of the certificate, at SNS in the topic's region. */
  certificateUrl: string;
}

/** A message that SNS itself signed: its topic, and the digest (SHA-256, hex) of what is signed. */
export interface SnsProof {
  topicArn: string;
  digest: string;
}

/** Ours: the longest request that is read as a message; SNS sends 256 KiB of text at most. */
const MAX_BYTES = 1024 * 1024;
/** SNS tries to deliver a message for an hour; 5 minutes are for clocks that differ. */
const TOLERANCE_S = 65 * 60;

const OF_CONFIRMATION = [
  ...['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
];
/** The fields that SNS signs, by the type of the message, in the order in which they are signed. */
const SIGNED_FIELDS = new Map([
  ['Notification', ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']],
  ['SubscriptionConfirmation', OF_CONFIRMATION],
  ['UnsubscribeConfirmation', OF_CONFIRMATION],
]);
const OPTIONAL_FIELD = 'Subject';
/** The only field that may have several lines: its end is not ambiguous, as the others have one. */
const LONG_FIELD = 'Message';
const ALGORITHMS = new Map([
  ['1', 'RSA-SHA1'],
  ['2', 'RSA-SHA256'],
]);
const CERTIFICATE_PATH = /^SimpleNotificationService-[0-9a-f]{1,64}\.pem$/;

/**
 * Returns the message of one of these topics; null if the body is none, or has a field from which
 * another message with the same signed text could be made.
 */
export const snsMessageOf = (topicArns: string[], body: Buffer): SnsMessage | null => {
  // A request that names no topic is not parsed.
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

/** Returns the fields in their order; null if one is missing, or is not one line of text. */
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

/** Returns the address of SNS in the region of a topic, up to its path. */
const addressOf = (topicArn: string): string => {
  const [, partition, , region] = topicArn.split(':');
  return `https://sns.${region}.amazonaws.com${partition === 'aws-cn' ? '.cn' : ''}/`;
};

const isCertificateUrl = (topicArn: string, url: string | null): url is string => {
  const address = addressOf(topicArn);
  return url?.startsWith(address) === true && CERTIFICATE_PATH.test(url.slice(address.length));
};

/** True if the address confirms the subscription of this topic, at SNS in its region. */
export const isConfirmation = (topicArn: string, url: string): boolean => {
  const start = `${addressOf(topicArn)}?`;
  if (!url.startsWith(start)) return false;
  const query = new URLSearchParams(url.slice(start.length));
  const [action, ...moreActions] = query.getAll('Action');
  const [topic, ...moreTopics] = query.getAll('TopicArn');
  const isSingle = moreActions.length === 0 && moreTopics.length === 0;
  return isSingle && action === 'ConfirmSubscription' && topic === topicArn;
};

/**
 * Returns the proof of a message that the key of this certificate (PEM) signed (Amazon SNS: Verifying
 * the signatures of Amazon SNS messages); null if it did not, or not within the time in which SNS
 * delivers a message.
 */
export const snsProofOf = (
  message: SnsMessage,
  certificate: string,
  now: number,
): SnsProof | null => {
  const { fields, signedText, algorithm } = message;
  const { TopicArn: topicArn = '', Timestamp: timestamp } = fields;
  const signature = Buffer.from(message.signature, 'base64');
  // Further characters would be passed over.
  if (signature.toString('base64') !== message.signature) return null;
  if (!isNear(timestamp, now, TOLERANCE_S)) return null;
  const { publicKey } = new X509Certificate(certificate);
  const isSigned = verify(algorithm, Buffer.from(signedText), publicKey, signature);
  return isSigned ? { topicArn, digest: hash('sha256', signedText, 'hex') } : null;
};
