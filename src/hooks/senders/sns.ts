import { verify, X509Certificate } from 'node:crypto';
import { isRecord, parsedJson } from '../../kernel/jsonvalue.js';
import type { SignatureRecipe } from './recipe.js';

/** A message of Amazon SNS, as its documents name the fields. */
export type SnsMessage = Record<string, string>;

/** Ours: the longest request that is read as a message; SNS sends 256 KiB of text at most. */
const LONGEST_BYTES = 1024 * 1024;
/** The addresses of certificates and confirmations: SNS itself, and nobody else. */
const SNS_HOST = /^https:\/\/sns\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?\//;

const OF_NOTIFICATION = ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'];
const OF_CONFIRMATION = [
  ...['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
];
const ALGORITHMS: Record<string, string> = { 1: 'RSA-SHA1', 2: 'RSA-SHA256' };

/** True if the address is one of SNS. */
export const isSnsUrl = (url: string | undefined): url is string =>
  url !== undefined && SNS_HOST.test(url);

/** Returns the texts of a message of the topic; null if the body is none. */
export const snsMessageOf = ({ topicArn }: SignatureRecipe, body: Buffer): SnsMessage | null => {
  if (body.length > LONGEST_BYTES) return null;
  const value = parsedJson(body.toString('utf8'));
  if (!isRecord(value) || topicArn === undefined || value.TopicArn !== topicArn) return null;
  const texts = Object.entries(value).flatMap(([name, each]) =>
    typeof each === 'string' ? [[name, each] as const] : [],
  );
  return Object.fromEntries(texts);
};

/**
 * True if the key of this certificate (PEM) signed the message (Amazon SNS: Verifying the signatures
 * of Amazon SNS messages).
 */
export const isSignedBySns = (message: SnsMessage, certificate: string): boolean => {
  const algorithm = ALGORITHMS[message.SignatureVersion ?? ''];
  if (algorithm === undefined || message.Signature === undefined) return false;
  const names = message.Type === 'Notification' ? OF_NOTIFICATION : OF_CONFIRMATION;
  const signed = names
    .filter((name) => message[name] !== undefined)
    .map((name) => `${name}\n${message[name]}\n`)
    .join('');
  const { publicKey } = new X509Certificate(certificate);
  const signature = Buffer.from(message.Signature, 'base64');
  // Further characters would be passed over.
  if (signature.toString('base64') !== message.Signature) return false;
  return verify(algorithm, Buffer.from(signed), publicKey, signature);
};
