import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from './config.js';
import { iso, systemClock } from './kernel/clock.js';
import { EnvelopeError } from './kernel/envelope.js';
import { mint } from './kernel/ids.js';
import { operatorEntry } from './operator.js';
import { deriveAuditKeys } from './secrets/auditmac.js';
import type { Keyring } from './secrets/keyring.js';
import { loadMasterKey } from './secrets/master.js';
import { CHECK } from './secrets/sealedcolumns.js';
import { DATABASE, OpenRefused } from './store/engine/protocol.js';
import { integrityFaults } from './store/thread/copy.js';
import { takeLock } from './store/thread/database.js';
import { quarantineCopy } from './store/thread/quarantine.js';
import type { QuarantineCounts } from './store/thread/quarantinestatements.js';
import {
  compareWith,
  factIn,
  prepareRollback,
  restoreSnapshot,
  type SnapshotLoss,
  saveDroppedDeliveries,
} from './store/thread/rollback.js';
import { listSnapshots, type Snapshot } from './store/thread/snapshots.js';

export interface RollbackResult extends QuarantineCounts {
  /** File with the dropped deliveries; null if there are none. */
  dropped: string | null;
  /** Path of the newer database. */
  aside: string;
}

/**
 * Prepares a rollback to a snapshot, by default the newest. The lock of the home is held until `close`,
 * and nothing is changed before `perform`. Throws OpenRefused and BadSetting.
 */
export const openRollback = (flags: { home: string }, name: string | undefined) => {
  const { home, masterKey } = readConfig(flags);
  const snapshot = chosen(home, name);
  const lock = takeLock(home);
  try {
    const { keyring } = loadMasterKey(home, masterKey);
    const [fault] = integrityFaults(snapshot.file);
    if (fault !== undefined)
      throw new OpenRefused(
        `The snapshot ${snapshot.name} is damaged: ${fault}. Choose another snapshot`,
      );
    proveKey(snapshot, keyring);
    const since = compareWith(home, snapshot);
    return {
      snapshot,
      since,
      perform: (): RollbackResult => perform(home, { snapshot, since, keyring }),
      close: () => lock.close(),
    };
  } catch (error) {
    lock.close();
    throw error;
  }
};

const chosen = (home: string, name: string | undefined): Snapshot => {
  if (!existsSync(join(home, DATABASE)))
    throw new OpenRefused(`There is no database in ${home}. Pass the data folder with --home`);
  const all = listSnapshots(home);
  const found =
    name === undefined ? all[0] : all.find((each) => each.name === name.replace(/\.db$/, ''));
  if (found) return found;
  const names = all.map((each) => each.name).join(', ') || 'none';
  throw new OpenRefused(`There is no such snapshot in ${home}. Available snapshots: ${names}`);
};

const proveKey = ({ name, file }: Snapshot, keyring: Keyring): void => {
  const sealed = factIn(file, CHECK);
  if (sealed === null) return;
  try {
    keyring.unseal(`facts:${CHECK}`, sealed);
  } catch (error) {
    if (!(error instanceof EnvelopeError)) throw error;
    throw new OpenRefused(
      `The current master key cannot decrypt the secrets in the snapshot ${name}, because the master key was changed later. Choose a newer snapshot`,
    );
  }
};

const perform = (
  home: string,
  { snapshot, since, keyring }: { snapshot: Snapshot; since: SnapshotLoss; keyring: Keyring },
): RollbackResult => {
  const now = systemClock.now();
  const at = iso(now);
  const stamp = at.slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
  const dropped = since.deliveries > 0 ? join(home, `dropped-${stamp}.jsonl`) : null;
  if (dropped !== null) saveDroppedDeliveries(home, snapshot, dropped);
  const coming = prepareRollback(home, snapshot);
  const { name } = snapshot;
  const held = quarantineCopy(coming, {
    at,
    why: `Rolled back to ${name}`,
    mintId: () => mint('notification', now),
    entry: operatorEntry('rollback', name, { ...since }),
    keys: deriveAuditKeys(keyring),
  });
  return { ...held, dropped, aside: restoreSnapshot(home, coming, stamp) };
};
