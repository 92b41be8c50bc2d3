import type { KeyObject } from 'node:crypto';
import { type Headers, type SignatureScheme, verifySignature } from '../../kernel/signature.js';
import type { SignatureRecipe } from '../senders/recipe.js';
import type { SnsProof } from '../senders/sns.js';
import { isSignedBy, type SenderRequest } from '../senders/verify.js';

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
  /** The proof that the request is a message of SNS; null if it is none. */
  sns: SnsProof | null;
  /** Milliseconds since 1970. */
  now: number;
}

/** The key that verified a request, by its place in the list, and the signature scheme. */
export interface SignatureProof {
  at: number;
  /** `sender`: as the hook's sender signs. */
  scheme: SignatureScheme | 'sender';
  /** The digest (SHA-256, hex) of what is signed, where that is only a part of the body. */
  digest?: string;
}

/** The reason for which a hook's keys could not be tried. */
export interface ProofFault {
  fault: string;
}

/** The proof of a hook; null if none of its keys verified the request. */
export type HookProof = SignatureProof | ProofFault | null;

/**
 * Returns for each hook the first key that verifies the request, or null. The fault of one hook
 * leaves the proofs of the others as they are.
 */
export const proofsOf = ({ hooks, body, sns, ...rest }: ProofInput): HookProof[] => {
  const request = { ...rest, body: Buffer.from(body.buffer, body.byteOffset, body.length) };
  return hooks.map((hook) => {
    try {
      return hook.recipe?.algorithm === 'sns' ? topicProof(hook, sns) : proofOf(hook, request);
    } catch (error) {
      return { fault: String(error) };
    }
  });
};

/** Returns the proof of a message of the hook's own topic. It needs no secret. */
const topicProof = ({ recipe }: HookKeys, sns: SnsProof | null): SignatureProof | null =>
  sns !== null && sns.topicArn === recipe?.topicArn
    ? { at: 0, scheme: 'sender', digest: sns.digest }
    : null;

const proofOf = ({ keys, recipe }: HookKeys, request: SenderRequest): SignatureProof | null => {
  const { headers, body, now } = request;
  for (const [at, key] of keys.entries()) {
    const scheme = recipe
      ? isSignedBy(recipe, key, request) && ('sender' as const)
      : verifySignature(key, body, headers, now);
    if (scheme) return { at, scheme };
  }
  return null;
};
