import type { KeyObject } from 'node:crypto';
import { type Headers, type SignatureScheme, verifySignature } from '../../kernel/signature.js';
import type { SignatureRecipe } from '../senders/recipe.js';
import type { SnsProof } from '../senders/sns.js';
import { isSignedBy, type SenderRequest } from '../senders/verify.js';

export interface HookKeys {
  keys: KeyObject[];
  /** Null for the built-in schemes, which need no description. */
  recipe: SignatureRecipe | null;
}

export interface ProofInput {
  hooks: HookKeys[];
  headers: Headers;
  body: Uint8Array;
  url: string | null;
  sns: SnsProof | null;
  now: number;
}

export interface SignatureProof {
  at: number;
  /** `sender`: the scheme of the hook's `verify`. */
  scheme: SignatureScheme | 'sender';
  /** SHA-256 of the signed text in hex, if only a part of the body is signed. */
  digest?: string;
}

export interface ProofFault {
  fault: string;
}

export type HookProof = SignatureProof | ProofFault | null;

/** An error of one hook does not affect the others. */
export const verifyHookProofs = ({ hooks, body, sns, ...rest }: ProofInput): HookProof[] => {
  const request = { ...rest, body: Buffer.from(body.buffer, body.byteOffset, body.length) };
  return hooks.map((hook) => {
    try {
      return hook.recipe?.algorithm === 'sns'
        ? topicProof(hook, sns)
        : findSignatureProof(hook, request);
    } catch (error) {
      return { fault: String(error) };
    }
  });
};

const topicProof = ({ recipe }: HookKeys, sns: SnsProof | null): SignatureProof | null =>
  sns !== null && sns.topicArn === recipe?.topicArn
    ? { at: 0, scheme: 'sender', digest: sns.digest }
    : null;

const findSignatureProof = (
  { keys, recipe }: HookKeys,
  request: SenderRequest,
): SignatureProof | null => {
  const { headers, body, now } = request;
  for (const [at, key] of keys.entries()) {
    const scheme = recipe
      ? isSignedBy(recipe, key, request) && ('sender' as const)
      : verifySignature(key, body, headers, now);
    if (scheme) return { at, scheme };
  }
  return null;
};
