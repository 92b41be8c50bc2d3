import { EnvelopeError } from '../../kernel/envelope.js';
import {
  deriveAuditKeys,
  Keyring,
  SEALED,
  sealedPage,
  verifyMasterKey,
} from '../../secrets/module.js';
import type { AuditCheck } from '../../store/audit/check.js';
import type { AuditHead, Migration } from '../../store/engine/protocol.js';
import { openStore, type Store } from '../../store/store.js';
import type { VerifiedBackup } from './contract.js';
import type { BackupKeys } from './keys.js';
import { BadBackup } from './manifest.js';

/**
 * Starts a copy of the database as the daemon would, but without queue, schedule, server or outbound
 * requests, and only reads it. Throws BadBackup for invalid content, and OpenRefused if the start fails.
 */
export const drill = async (of: {
  /** A temporary home with nothing but the database. */
  home: string;
  keys: BackupKeys;
  migrations: Migration[];
}): Promise<Pick<VerifiedBackup, 'secrets' | 'auditEntries'>> => {
  const keyring = new Keyring(of.keys.masterKeys);
  const lost = (error: Error): void => {
    throw error;
  };
  const { home, migrations } = of;
  const store = await openStore(
    { home, migrations, ...deriveAuditKeys(keyring) },
    { lost, audited: () => undefined },
  );
  try {
    await verifyMasterKey(store, keyring);
    return { secrets: await openAll(store, keyring), auditEntries: await verifyAudit(store) };
  } finally {
    await store.close();
  }
};

const openAll = async (store: Store, keyring: Keyring): Promise<number> => {
  let opened = 0;
  for (const sealed of SEALED) {
    for (let rows = await sealedPage(store, sealed, null); rows.length > 0; ) {
      for (const { bound, sealed: value } of rows) open(keyring, bound, value);
      opened += rows.length;
      rows = await sealedPage(store, sealed, rows.at(-1)?.key ?? null);
    }
  }
  return opened;
};

const open = (keyring: Keyring, bound: string, sealed: string): void => {
  try {
    keyring.unseal(bound, sealed).fill(0);
  } catch (error) {
    if (!(error instanceof EnvelopeError)) throw error;
    throw new BadBackup(`The keys in the backup cannot decrypt ${bound}`);
  }
};

const verifyAudit = async ({ look }: Store): Promise<number> => {
  let checked = 0;
  let after: AuditHead | null = null;
  for (let isEnd = false; !isEnd; ) {
    const step: AuditCheck = await look('checkAudit', { after });
    if (step.first)
      throw new BadBackup(`The audit log in the backup is invalid at entry ${step.first.number}`);
    checked += step.checked;
    after = step.last;
    isEnd = step.isEnd;
  }
  const found = await look('contradictedHeads', { place: 0, from: 0 });
  if (found.failure !== null)
    throw new BadBackup(
      `The newest audit log entry (audit.head) in the backup cannot be read: ${found.failure}`,
    );
  const [head] = found.heads;
  if (head)
    throw new BadBackup(
      `audit.head in the backup differs from the audit log at entry ${head.number}`,
    );
  return checked;
};
