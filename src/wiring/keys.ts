import { EnvelopeError } from '../kernel/envelope.js';
import type { Log } from '../kernel/log.js';
import { type MasterKey, proveMasterKey } from '../secrets/master.js';
import { createProof } from '../secrets/masterkeyproof.js';
import { createRekey, finishRekey } from '../secrets/rekey.js';
import { createSealers } from '../secrets/sealers.js';
import { openSigner } from '../secrets/tokensigner.js';
import type { Parts } from './parts.js';

/** All that the master key opens. A change of it that was cut short is ended first. */
export const openMasterKeys = async (
  { store, clock, log }: Pick<Parts, 'store' | 'clock'> & { log: Log },
  master: MasterKey,
): Promise<Pick<Parts, 'signer' | 'secrets' | 'rekey' | 'prove'>> => {
  const { keyring } = master;
  await proveMasterKey(store, keyring);
  if (keyring.isChanging) {
    await finishRekey(store, master).catch((err) => {
      if (!(err instanceof EnvelopeError)) throw err;
      log.error(
        'a value is damaged: the change of the master key is not ended, both keys are kept',
      );
    });
  }
  const signer = await openSigner({ store, clock, log }, keyring);
  return {
    ...{ signer, secrets: createSealers(keyring) },
    rekey: createRekey(store, master),
    prove: createProof(store, keyring),
  };
};
