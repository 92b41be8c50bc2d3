import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { migrations } from '../migrations/all.js';
import { passwordFault } from './accounts/auth/policy.js';
import { accountKey } from './accounts/auth/rules.js';
import { type AccountRow, type Removed, usersStore } from './accounts/users/queries.js';
import { type Config, readConfig } from './config.js';
import { iso, systemClock } from './kernel/clock.js';
import { createPasswords } from './kernel/password.js';
import { operatorEntry } from './operator.js';
import { deriveAuditKeys } from './secrets/auditmac.js';
import { loadMasterKey, verifyMasterKey } from './secrets/master.js';
import { OpenRefused } from './store/engine/protocol.js';
import { openStore, type Store } from './store/store.js';

/** For a stopped daemon. Throws OpenRefused and BadSetting. */
export const openRecovery = async (flags: Partial<Config>): Promise<Recovery> => {
  const { home, masterKey } = readConfig(flags);
  if (!existsSync(join(home, 'adjutant.db'))) {
    throw new OpenRefused(`There is no database in ${home}. Pass the data folder with --home`);
  }
  const { keyring } = loadMasterKey(home, masterKey);
  const lost = (error: Error): void => {
    throw error;
  };
  const options = { home, migrations, ...deriveAuditKeys(keyring) };
  const store = await openStore(options, { lost, audited: () => undefined });
  try {
    await verifyMasterKey(store, keyring);
    return createRecovery(store);
  } catch (error) {
    await store.close();
    throw error;
  }
};

/** The lock of the home is held until `close`. */
const createRecovery = (store: Store) => {
  const users = usersStore(store);
  return {
    /** `name` is a username or an e-mail address. Throws OpenRefused. */
    find: async (name: string): Promise<AccountRow> => {
      const found = await users.findByKey(accountKey(name));
      if (!found)
        throw new OpenRefused(
          `There is no user account with the name "${name}". Check the spelling`,
        );
      return found;
    },
    /** Oldest first. */
    passkeysOf: users.passkeysOf,
    /**
     * Sets the password, ends all sessions and tokens, enables a disabled account, and removes the given
     * second factors and passkeys. It is recorded in the audit log. Throws OpenRefused for a weak
     * password.
     */
    recover: async (
      { id, disabled_at, username, email }: AccountRow,
      { password, removes }: { password: string; removes: Removed },
    ): Promise<void> => {
      const fault = await passwordFault({ password, names: [username, email] });
      if (fault !== null) throw new OpenRefused(`The password ${fault}`);
      const passwordHash = await createPasswords().hash(password);
      const at = iso(systemClock.now());
      const isLess = removes.totp || removes.passkeys.length > 0;
      const data = {
        wasDisabled: disabled_at !== null,
        ...(isLess && { removed: { ...removes } }),
      };
      const audit = operatorEntry('users.recover', id, data);
      await users.recover(id, { passwordHash, removes }, { at, also: [{ audit }] });
    },
    close: () => store.close(),
  };
};

export type Recovery = ReturnType<typeof createRecovery>;
