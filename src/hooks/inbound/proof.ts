import type { KeyObject } from 'node:crypto';
import { type Headers, type SignatureScheme, verifySignature } from '../../kernel/signature.js';
import type { SignatureRecipe } from '../senders/recipe.js';
import { isFromTopic, isSignedBy, type SenderRequest } from '../senders/verify.js';

/** The keys of a hook that would verify a request, and how its sender signs. */
export interface HookKeys {
  keys: KeyObject[];
  /** Null: by one of the schemes that need no description. */
  recipe: SignatureRecipe | null;
}

/** A signed request, and the keys of each hook on its path that would verify it. */
export interface ProofInput {
  hooks: HookKeys[];
  headers: Headers;
  body: Uint8Array;
  /** The public address, path and query; null if the daemon has no public address. */
  url: string | null;
  /** The certificate (PEM) that a message of SNS names. */
  certificate: string | null;
  /** Milliseconds since 1970. */
  now: number;
}

/** The key that verified a request, by its place in the list, and the signature scheme. */
export interface SignatureProof {
  at: number;
  /** `sender`: as the hook's sender signs. */
  scheme: SignatureScheme | 'sender';
}

/** Returns for each hook the first key that verifies the request, or null. */
export const proofsOf = ({ hooks, body, ...rest }: ProofInput): (SignatureProof | null)[] => {
  const request = { ...rest, body: Buffer.from(body.buffer, body.byteOffset, body.length) };
  return hooks.map((hook) => proofOf(hook, request));
};

const proofOf = ({ keys, recipe }: HookKeys, request: SenderRequest): SignatureProof | null => {
  if (recipe?.algorithm === 'sns') {
    return isFromTopic(recipe, request) ? { at: 0, scheme: 'sender' } : null;
  }
  const { headers, body, now } = request;
  for (const [at, key] of keys.entries()) {
    const scheme = recipe
      ? isSignedBy(recipe, key, request) && ('sender' as const)
      : verifySignature(key, body, headers, now);
    if (scheme) return { at, scheme };
  }
  return null;
};
