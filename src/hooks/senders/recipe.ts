/**
 * The signature of a sender's requests, as data. A preset is one of these with a name; a hook may
 * also describe a sender of its own.
 */
export interface SignatureRecipe {
  /** The header with the signature or the token, in lower case. */
  header: string;
  /** Text before the signature in the header, e.g. `sha256=`. */
  prefix?: string;
  /**
   * `sha1`, `sha256`, `sha512`: an HMAC keyed with the secret. `ed25519`: the secret is the sender's
   * public key. `token`: the header holds the secret. `basic`: it holds the secret as
   * `user:password` (RFC 7617). Only presets have the others. `sns`: Amazon's key, by the certificate
   * that the message names. `client-state`: each notification of the body holds the secret.
   */
  algorithm: 'sha1' | 'sha256' | 'sha512' | 'ed25519' | 'token' | 'basic' | 'sns' | 'client-state';
  /** The encoding of the signature, and of an Ed25519 key. */
  encoding?: SignatureEncoding;
  /**
   * The text that is signed, with the placeholders `{body}`, `{timestamp}`, `{id}`, `{url}` (the public
   * address, path and query as received) and `{form}` (the fields of a form, sorted by name, each
   * name followed by its value; of another body nothing, if the query has its SHA-256 as
   * `bodySHA256`).
   */
  signed?: string;
  /** The header with the time of the signature: seconds or milliseconds since 1970, or ISO 8601. */
  timestampHeader?: string;
  /** The place of the time in a body that is signed, likewise: `body.<path>`. */
  timestampFrom?: string;
  /** The most that the time may differ, in seconds: 30 to 3600, otherwise 300. */
  toleranceSeconds?: number;
  /** The place of the sender's id of the delivery: `headers.<name>` or `body.<path>`. */
  idFrom?: string;
  /** The place of the event's name, likewise. */
  eventFrom?: string;
  /**
   * The key in the secret: the text itself (`raw`), base64 of the bytes, or `whsec_` and base64
   * (Standard Webhooks), where any other text is taken as it is.
   */
  key?: 'raw' | 'base64' | 'whsec';
  /**
   * The header's form. `plain`: one signature. `pairs`: `name=value` separated by commas or
   * semicolons, as `parts` names them. `list`: signatures with the prefix, separated by commas or spaces.
   */
  format?: 'plain' | 'pairs' | 'list';
  parts?: { timestamp: string; signature: string };
  /** The bodies that the sender sends; all, if there is none. */
  bodies?: BodyForm[];
  /** True if the sender sends JSON under another media type. */
  isAlwaysJson?: true;
  /** The topic of SNS whose messages are taken. */
  topicArn?: string;
  /** The event with which the sender greets a new address: it means nothing to the hook. */
  greeting?: SenderGreeting;
  /** The way in which the sender finds out that the address is the hook's owner's, if it does. */
  handshake?: HandshakeKind;
}

/** The event's name, and the sender as people call it. */
export interface SenderGreeting {
  event: string;
  sender: string;
}

/** The senders whose handshakes are answered, by the way of each. */
export type HandshakeKind = 'slack' | 'zoom' | 'discord' | 'sns' | 'graph' | 'notion';

/** True if the requests are verified with a key that is no secret: anybody may have its hook. */
export const isKeyPublic = ({ algorithm }: SignatureRecipe): boolean =>
  algorithm === 'ed25519' || algorithm === 'sns';

export const ENCODINGS = ['hex', 'base64', 'base64url'] as const;
export type SignatureEncoding = (typeof ENCODINGS)[number];

/**
 * The form of a body. `json`: by its type, or of a type that says nothing. `form`:
 * `application/x-www-form-urlencoded`. `text`: plain text or XML.
 */
export type BodyForm = (typeof BODY_FORMS)[number];
export const BODY_FORMS = ['json', 'form', 'text'] as const;

/** Ours: the most fields of a form. */
export const MAX_FORM_FIELDS = 1000;

/** The placeholders of `signed`. */
export const PLACEHOLDERS = ['body', 'timestamp', 'id', 'url', 'form'] as const;
export type Placeholder = (typeof PLACEHOLDERS)[number];

/** A piece of the signed text: a placeholder, or text that stands for itself. */
export type SignedPiece = { placeholder: Placeholder } | { text: string };

const PIECE = /\{(\w+)\}/g;

/** Splits a `signed` text into its pieces; null if it has an unknown placeholder. */
export const piecesOf = (signed: string): SignedPiece[] | null => {
  const pieces: SignedPiece[] = [];
  let end = 0;
  for (const match of signed.matchAll(PIECE)) {
    const placeholder = PLACEHOLDERS.find((name) => name === match[1]);
    if (!placeholder) return null;
    if (match.index > end) pieces.push({ text: signed.slice(end, match.index) });
    pieces.push({ placeholder });
    end = match.index + match[0].length;
  }
  if (end < signed.length) pieces.push({ text: signed.slice(end) });
  return pieces;
};
