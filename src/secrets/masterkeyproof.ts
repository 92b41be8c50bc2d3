import type { Store } from '../store/store.js';
import type { Keyring } from './keyring.js';
import { isOpened, sealedSample } from './rekey.js';
import { SEALED, type SealedColumn } from './sealedcolumns.js';

/** Whether the master key opens what is sealed. */
export interface MasterKeyProof {
  opened: number;
  /** Of each column that holds something that it does not open: `hooks.secret_sealed`. */
  shut: string[];
  /** A change of the key was begun and not ended. */
  isChanging: boolean;
}

/** Opens a sample of every sealed column, and forgets what it saw. */
export const createProof =
  (store: Store, keyring: Keyring) => async (): Promise<MasterKeyProof> => {
    const proof: MasterKeyProof = { opened: 0, shut: [], isChanging: keyring.isChanging };
    for (const sealed of SEALED) {
      const rows = await sealedSample(store, sealed);
      const open = rows.filter((row) => isOpened(keyring, row));
      proof.opened += open.length;
      if (open.length < rows.length) proof.shut.push(nameOf(sealed));
    }
    return proof;
  };

const nameOf = ({ table, column }: SealedColumn): string => `${table}.${column}`;
