/** A signature scheme as data. Presets are named recipes; a hook may also define its own. */
export interface SignatureRecipe {
  header: string;
  prefix?: string;
  /**
   * `sha1`, `sha256`, `sha512`: HMAC with the secret. `ed25519`: the secret is the public key of
   * the sender. `token`: the header contains the secret. `basic`: the header contains
   * `user:password` (RFC 7617). Presets only: `sns` (certificate of Amazon) and `client-state`
   * (secret in each notification of the body).
   */
  algorithm: 'sha1' | 'sha256' | 'sha512' | 'ed25519' | 'token' | 'basic' | 'sns' | 'client-state';
  encoding?: SignatureEncoding;
  /**
   * Placeholders: `{body}`, `{timestamp}`, `{id}`, `{url}` (public URL with path and query) and
   * `{form}` (form fields sorted by name, each name followed by its value; nothing for another body
   * whose SHA-256 is in the query as `bodySHA256`).
   */
  signed?: string;
  /** Seconds or milliseconds since 1970, or ISO 8601. */
  timestampHeader?: string;
  /** Location of the time in a signed body: `body.<path>`. */
  timestampFrom?: string;
  /** Maximum clock difference in seconds, 30 to 3600. Defaults to 300. */
  toleranceSeconds?: number;
  idFrom?: string;
  /** `headers.<name>` or `body.<path>`, as for `idFrom`. */
  eventFrom?: string;
  /**
   * `raw`: the text itself. `base64`: encoded bytes. `whsec`: `whsec_` and base64 (Standard
   * Webhooks); other texts count as `raw`.
   */
  key?: 'raw' | 'base64' | 'whsec';
  /**
   * `plain`: one signature. `pairs`: `name=value`, separated by commas or semicolons, named by
   * `parts`. `list`: prefixed signatures, separated by commas or spaces.
   */
  format?: 'plain' | 'pairs' | 'list';
  parts?: { timestamp: string; signature: string };
  /** Defaults to all. */
  bodies?: BodyForm[];
  /** Whether the sender sends JSON with another media type. */
  isAlwaysJson?: true;
  topicArn?: string;
  /** Test event for a new address. Hooks ignore it. */
  greeting?: SenderGreeting;
  /** How the sender verifies the owner of the address. */
  handshake?: HandshakeKind;
}

export interface SenderGreeting {
  event: string;
  sender: string;
}

export type HandshakeKind = 'slack' | 'zoom' | 'discord' | 'sns' | 'graph' | 'notion';

/** A public key is not a secret, so any user may have a hook with it. */
export const isKeyPublic = ({ algorithm }: SignatureRecipe): boolean =>
  algorithm === 'ed25519' || algorithm === 'sns';

export const ENCODINGS = ['hex', 'base64', 'base64url'] as const;
export type SignatureEncoding = (typeof ENCODINGS)[number];

/**
 * `json`: JSON or no media type. `form`: `application/x-www-form-urlencoded`. `text`: plain text or
 * XML.
 */
export type BodyForm = (typeof BODY_FORMS)[number];
export const BODY_FORMS = ['json', 'form', 'text'] as const;

export const MAX_FORM_FIELDS = 1000;

export const PLACEHOLDERS = ['body', 'timestamp', 'id', 'url', 'form'] as const;
export type Placeholder = (typeof PLACEHOLDERS)[number];

export type SignedPiece = { placeholder: Placeholder } | { text: string };

const PIECE = /\{(\w+)\}/g;

/** Null if the text has an unknown placeholder. */
export const parseSignedTemplate = (signed: string): SignedPiece[] | null => {
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
