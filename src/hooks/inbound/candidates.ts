import { createSecretKey, type KeyObject } from 'node:crypto';
import type { VerifyingKey } from '../../secrets/module.js';
import { isKeyPublic } from '../senders/recipe.js';
import type { ProofSource } from './headers.js';
import type { HookKeys, HookProof } from './proof.js';
import type { ReceivingHook } from './receivinghooks.js';

export interface CandidateHook {
  /** Null for a decoy, which keeps the response time constant. */
  hook: ReceivingHook | null;
  secrets: VerifyingKey[];
}

const DECOY_KEY: VerifyingKey = {
  key: createSecretKey(Buffer.alloc(32, 1)),
  until: null,
  isOld: false,
};

/** Verified against if no hook matches. */
export const DECOY: CandidateHook = { hook: null, secrets: [DECOY_KEY] };

export const validCandidates = (hooks: ReceivingHook[], now: number): CandidateHook[] =>
  hooks.map((hook) => ({
    hook,
    secrets: hook.secrets.filter(({ until }) => until === null || until > now),
  }));

export const keysOfHook = ({ hook, secrets }: CandidateHook): HookKeys => ({
  keys: secrets.map(({ key }) => key),
  recipe: hook?.sender?.recipe ?? null,
});

export const exportCandidateSecrets = ({ hook, secrets }: CandidateHook): Buffer[] =>
  hook?.sender && isKeyPublic(hook.sender.recipe) ? [] : secrets.map(({ key }) => key.export());

export const signsAddress = ({ recipe }: HookKeys): boolean =>
  recipe?.signed?.includes('{url}') === true;

export const selectVerifiedHooks = (
  candidates: CandidateHook[],
  proofs: HookProof[],
): VerifiedHook[] =>
  candidates.flatMap(({ hook, secrets }, index) => {
    const proof = proofs[index];
    if (!hook || !proof || 'fault' in proof) return [];
    const by = proof.scheme === 'sender' ? (hook.sender ?? 'secret') : proof.scheme;
    const { key = null, isOld = false } = secrets[proof.at] ?? {};
    return [{ hook, usedOldSecret: isOld, key, by, digest: proof.digest ?? null }];
  });
export interface VerifiedHook {
  hook: ReceivingHook;
  usedOldSecret: boolean;
  key: KeyObject | null;
  by: ProofSource;
  /** SHA-256 of the signed text, in hex. Null if the body itself is signed. */
  digest: string | null;
}
