import { createHmac, createPrivateKey, createSecretKey, type KeyObject, sign } from 'node:crypto';
import { parseExact, stringifyExact } from '../../kernel/exactjson.js';
import { isRecord, listAt, memberAt, parsedJson, withoutMark } from '../../kernel/jsonvalue.js';
import type { Headers } from '../../kernel/signature.js';
import type { SignatureRecipe } from './recipe.js';
import { bodyHash, isForm, signedBytes } from './signedtext.js';
import { keysIn } from './verify.js';

export interface OutgoingRequest {
  url: string;
  contentType: string;
  body: Buffer;
  id: string;
  event?: string;
  now: number;
}

export class InvalidSigningSecret extends Error {
  override name = 'InvalidSigningSecret';
}

export interface SignedSenderRequest {
  url: string;
  headers: Record<string, string>;
  body: Buffer;
}

/**
 * Adds `bodySHA256` to the URL for a sender that signs forms, and the current time to a body with a
 * signed time. For Ed25519 the secret is the private key as PEM. Throws InvalidSigningSecret.
 */
export const signedRequest = (
  recipe: SignatureRecipe,
  secret: string,
  request: OutgoingRequest,
): SignedSenderRequest => {
  const { header, idFrom, eventFrom, timestampHeader } = recipe;
  const isState = recipe.algorithm === 'client-state';
  const body = isState ? withState(request.body, secret) : timely(recipe, request);
  const timestamp = String(Math.floor(request.now / 1000));
  const headers: Record<string, string> = {
    'content-type': request.contentType,
    ...headerAt(idFrom, request.id),
    ...headerAt(eventFrom, request.event),
    ...(timestampHeader && { [timestampHeader]: timestamp }),
  };
  const url = buildSignedUrl(recipe, headers, { url: request.url, body });
  const signed = signedBytes(recipe, { headers, body, url, timestamp });
  const signature = computeSignature(recipe, secret, signed);
  if (isState) return { url, headers, body };
  headers[header] = headerValue(recipe, { timestamp, signature });
  return { url, headers, body };
};

const timely = (
  { timestampFrom }: SignatureRecipe,
  { body, now }: Pick<OutgoingRequest, 'body' | 'now'>,
): Buffer => {
  const [, ...path] = timestampFrom?.split('.') ?? [];
  const name = path.pop();
  const payload = parseExactPayload(body);
  const holder = memberAt(payload, ...path);
  if (name === undefined || !isRecord(holder)) return body;
  holder[name] = now;
  return Buffer.from(stringifyExact(payload) ?? '');
};

const parseExactPayload = (body: Buffer): unknown => {
  const text = withoutMark(body.toString());
  return parsedJson(text) === undefined ? undefined : parseExact(text);
};

const withState = (body: Buffer, clientState: string): Buffer => {
  const payload = parseExactPayload(body);
  const value = listAt(payload, 'value').map((each) =>
    isRecord(each) ? { ...each, clientState } : each,
  );
  return isRecord(payload) ? Buffer.from(stringifyExact({ ...payload, value }) ?? '') : body;
};

const headerAt = (place: string | undefined, value: string | undefined): Record<string, string> => {
  const [from, name] = place?.split('.', 2) ?? [];
  return from === 'headers' && name && value !== undefined ? { [name.toLowerCase()]: value } : {};
};

const buildSignedUrl = (
  { signed = '' }: SignatureRecipe,
  headers: Headers,
  { url, body }: { url: string; body: Buffer },
): string => {
  if (!signed.includes('{form}') || isForm(headers)) return url;
  return `${url}${url.includes('?') ? '&' : '?'}bodySHA256=${bodyHash(body)}`;
};

const headerValue = (
  { format, parts, algorithm, prefix = '' }: SignatureRecipe,
  { timestamp, signature }: { timestamp: string; signature: string },
): string => {
  if (format === 'pairs')
    return `${parts?.timestamp}=${timestamp},${parts?.signature}=${signature}`;
  return `${algorithm === 'basic' ? 'Basic ' : prefix}${signature}`;
};

const computeSignature = (
  recipe: SignatureRecipe,
  secret: string,
  signed: Buffer | null,
): string => {
  const { algorithm, encoding = 'hex' } = recipe;
  if (algorithm === 'token') return secret;
  if (algorithm === 'sns')
    throw new InvalidSigningSecret(
      'Only Amazon can sign SNS messages. Publish a test message in Amazon SNS',
    );
  if (algorithm === 'client-state') return '';
  if (algorithm === 'basic') return Buffer.from(secret).toString('base64');
  if (signed === null)
    throw new InvalidSigningSecret(
      'The request lacks a part that the sender signs, such as the timestamp',
    );
  if (algorithm === 'ed25519') return sign(null, signed, privateKey(secret)).toString(encoding);
  // For a secret with a prefix the last key is the part after the prefix.
  const key = keysIn(recipe, createSecretKey(Buffer.from(secret))).at(-1);
  if (key === undefined)
    throw new InvalidSigningSecret(
      'The secret is not valid base64. Copy the secret from the sender again',
    );
  return createHmac(algorithm, key).update(signed).digest(encoding);
};

const privateKey = (secret: string): KeyObject => {
  try {
    return createPrivateKey(secret);
  } catch {
    throw new InvalidSigningSecret(
      'The secret must be a private key in PEM format, because this sender signs with Ed25519. Create your own key pair, store its public key in the hook, and pass the private key as the secret',
    );
  }
};
