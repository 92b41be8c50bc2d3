import type { Base } from '../base.js';
import { unsealOrNull } from '../kernel/envelope.js';
import type { Resource } from '../kernel/route.js';
import type { Secrets } from '../secrets/module.js';
import type { Statement } from '../store/engine/protocol.js';
import { selectRows, updateRows } from '../store/rows.js';
import { statement } from '../store/store.js';
import { credentialVersionTable } from '../store/tables/vault.js';
import { credentialsStore } from './queries.js';
import { createRenewal } from './renewal.js';
import { vaultResource } from './routes.js';
import type { VaultServiceDeps } from './service.js';
import type { CredentialUsageDeps } from './usage.js';
import { createVault } from './vault.js';

export { hostRefusal } from './allowedhosts.js';
export {
  CREDENTIAL_REFERENCE,
  findCredentialNames,
  parseCredentialArgument,
} from './references.js';
export type { Renewal } from './renewal.js';
export {
  DAY_MS,
  EXPIRED,
  FIRST_REMINDER_MS,
  reminderDueAt,
  remindersPast,
  rotateDueAt,
} from './terms.js';
export { type CredentialUsageDeps, credentialUsers } from './usage.js';
export type { OpenedCredential, UsableCredential, Vault } from './vault.js';

export const openVault = (base: Base, { secrets }: { secrets: Secrets }) => {
  const { store, clock, log } = base;
  const { sealVersion, openVersion } = secrets.sealers.vault;
  const vault = createVault({ store, clock, log, openVersion });
  const refreshes = [vault.refresh];
  let platformUses: CredentialUsageDeps['platformUses'] = () => false;
  const usage: CredentialUsageDeps = { store, platformUses: (...of) => platformUses(...of) };
  const renew = createRenewal({
    credentials: credentialsStore(usage),
    clock,
    sealVersion,
    openVersion,
    applied: vault.refresh,
  });
  return {
    vault,
    renew,
    usage,
    /** Statements that give all values of an owner another one. A damaged value stays damaged. */
    resealed: async (from: string, to: string): Promise<Statement[]> => {
      const rows = await selectRows(store.db, credentialVersionTable, { user_id: from }).execute();
      return rows.map((row) => {
        const value = unsealOrNull(() => openVersion(row));
        const moved = { ...row, user_id: to };
        const sealed = value?.take((bytes) => sealVersion(moved, bytes.toString())) ?? row.sealed;
        const { credential_id, version } = row;
        return statement(
          updateRows(store.db, credentialVersionTable, { credential_id, version }).set({
            user_id: to,
            sealed,
          }),
        );
      });
    },
    /** Registers the check whether a chat platform uses a credential. */
    platformsUse: (check: CredentialUsageDeps['platformUses']): void => {
      platformUses = check;
    },
    /** Registers a function that is called after each change of credentials. */
    onChange: (refresh: () => Promise<void>): void => {
      refreshes.push(refresh);
    },
    resources: ({ accounts }: { accounts: VaultServiceDeps['accounts'] }): Resource[] => [
      vaultResource({
        credentials: credentialsStore(usage),
        clock,
        sealVersion,
        openVersion,
        accounts,
        applied: async () => {
          for (const refresh of refreshes) await refresh();
        },
        rekey: secrets.rekey,
      }),
    ],
  };
};

export type VaultModule = ReturnType<typeof openVault>;
