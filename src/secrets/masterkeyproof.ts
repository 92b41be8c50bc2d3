import type { Store } from '../store/store.js';
import type { Keyring } from './keyring.js';
import { canUnseal, sealedSample } from './rekey.js';
import { SEALED, type SealedColumn } from './sealedcolumns.js';

export interface MasterKeyProof {
  opened: number;
  /** Columns with a value that the key does not open, such as `hooks.secret_sealed`. */
  shut: string[];
  /** True if a change of the key is unfinished. */
  isChanging: boolean;
}

/** Opens a sample of every sealed column. */
export const createMasterKeyTest =
  (store: Store, keyring: Keyring) => async (): Promise<MasterKeyProof> => {
    const proof: MasterKeyProof = { opened: 0, shut: [], isChanging: keyring.isChanging };
    for (const sealed of SEALED) {
      const rows = await sealedSample(store, sealed);
      const open = rows.filter((row) => canUnseal(keyring, row));
      proof.opened += open.length;
      if (open.length < rows.length) proof.shut.push(formatColumnName(sealed));
    }
    return proof;
  };

const formatColumnName = ({ table, column }: SealedColumn): string => `${table}.${column}`;
