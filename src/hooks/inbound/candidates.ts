import { createSecretKey } from 'node:crypto';
import type { VerifyingKey } from '../../secrets/module.js';
import { isKeyPublic } from '../senders/recipe.js';
import type { VerifiedHook } from './accept.js';
import type { HookKeys, HookProof } from './proof.js';
import type { ReceivingHook } from './receivinghooks.js';

/** A hook and its keys that are valid now. */
export interface CandidateHook {
  /**
   * The hook; null if there is none, and the work is done only to keep the response time the same.
   */
  hook: ReceivingHook | null;
  secrets: VerifyingKey[];
}

const DECOY_KEY: VerifyingKey = {
  key: createSecretKey(Buffer.alloc(32, 1)),
  until: null,
  isOld: false,
};

/** The candidate that is tried where there is no hook. */
export const DECOY: CandidateHook = { hook: null, secrets: [DECOY_KEY] };

/** Returns hooks with their keys that are valid now. */
export const validCandidates = (hooks: ReceivingHook[], now: number): CandidateHook[] =>
  hooks.map((hook) => ({
    hook,
    secrets: hook.secrets.filter(({ until }) => until === null || until > now),
  }));

export const keysOfHook = ({ hook, secrets }: CandidateHook): HookKeys => ({
  keys: secrets.map(({ key }) => key),
  recipe: hook?.sender?.recipe ?? null,
});

/** Returns the secrets of a hook. A public key is none. */
export const secretsOf = ({ hook, secrets }: CandidateHook): Buffer[] =>
  hook?.sender && isKeyPublic(hook.sender.recipe) ? [] : secrets.map(({ key }) => key.export());

/** True if the hook's sender signs the address too. */
export const signsAddress = ({ recipe }: HookKeys): boolean =>
  recipe?.signed?.includes('{url}') === true;

/** Returns the hooks that a request was verified for. */
export const verifiedOf = (candidates: CandidateHook[], proofs: HookProof[]): VerifiedHook[] =>
  candidates.flatMap(({ hook, secrets }, index) => {
    const proof = proofs[index];
    if (!hook || !proof || 'fault' in proof) return [];
    const by = proof.scheme === 'sender' ? (hook.sender ?? 'secret') : proof.scheme;
    const { key = null, isOld = false } = secrets[proof.at] ?? {};
    return [{ hook, usedOldSecret: isOld, key, by, digest: proof.digest ?? null }];
  });
