import type { Base } from '../base.js';
import { EnvelopeError } from '../kernel/envelope.js';
import { openCodeDigest } from './codekey.js';
import { type MasterKey, verifyMasterKey } from './master.js';
import { createMasterKeyTest } from './masterkeyproof.js';
import { createPushKey } from './pushkey.js';
import { createRekey, finishRekey } from './rekey.js';
import { createSealers } from './sealers.js';
import { openSigner } from './tokensigner.js';

export { deriveAuditKeys } from './auditmac.js';
export { Keyring } from './keyring.js';
export { type MasterKey, verifyMasterKey } from './master.js';
export type { MasterKeyProof } from './masterkeyproof.js';
export type { VerifyingKey } from './overlap.js';
export {
  type OverlapDeps,
  previousSecrets,
  type RotationDeps,
  rotatedSecretColumns,
  type SecretOpener,
} from './overlap.js';
export { type Rekey, RekeyRefused, sealedPage } from './rekey.js';
export { SEALED } from './sealedcolumns.js';
export { Secret } from './secret.js';
export {
  computeSignatures,
  newSecret,
  parseSecretKey,
  secretFault,
  secretKey,
} from './standardwebhooks.js';
export type { Signer } from './tokensigner.js';

/** An interrupted change of the master key is finished first. */
export const openSecrets = async (base: Base, master: MasterKey) => {
  const { store, clock, log } = base;
  const { keyring } = master;
  await verifyMasterKey(store, keyring);
  if (keyring.isChanging) {
    await finishRekey(store, master).catch((err) => {
      if (!(err instanceof EnvelopeError)) throw err;
      log.error(
        'a value is damaged: the change of the master key is not finished, both keys are kept',
      );
    });
  }
  return {
    signer: await openSigner({ store, clock, log }, keyring),
    sealers: createSealers(keyring),
    rekey: createRekey(store, master),
    pushKey: createPushKey(store, keyring),
    prove: createMasterKeyTest(store, keyring),
    digestCode: await openCodeDigest({ store, log }, keyring),
    /** Copies, the newest first. */
    masterKeys: (): Buffer[] => keyring.all.map((key) => Buffer.from(key)),
  };
};

export type Secrets = Awaited<ReturnType<typeof openSecrets>>;
