import type { KeyObject } from 'node:crypto';
import { type Headers, type SignatureScheme, verifySignature } from '../../kernel/signature.js';

/** A signed request, and the keys of each hook on its path that would verify it. */
export interface ProofInput {
  keys: KeyObject[][];
  headers: Headers;
  body: Uint8Array;
  /** Milliseconds since 1970. */
  now: number;
}

/** The key that verified a request, by its place in the list, and the signature scheme. */
export interface SignatureProof {
  at: number;
  scheme: SignatureScheme;
}

/** Returns for each hook the first key that verifies the request, or null. */
export const proofsOf = ({ keys, headers, body, now }: ProofInput): (SignatureProof | null)[] => {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  return keys.map((each) => {
    for (const [at, key] of each.entries()) {
      const scheme = verifySignature(key, bytes, headers, now);
      if (scheme) return { at, scheme };
    }
    return null;
  });
};
