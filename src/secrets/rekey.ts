import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { AuditStep } from '../kernel/contract/audit.js';
import { unsealOrNull } from '../kernel/envelope.js';
import type { Statement } from '../store/engine/protocol.js';
import type { Store } from '../store/store.js';
import { keepAuditKey } from './auditkey.js';
import type { Keyring } from './keyring.js';
import type { MasterFile, MasterKey } from './master.js';
import { SEALED, type SealedColumn } from './sealedcolumns.js';

/**
 * Creates a new master key and reseals every value with it. Resolves to the number of resealed values.
 * `recorded` is written first. Throws RekeyRefused.
 */
export type Rekey = (recorded: AuditStep) => Promise<number>;

export class RekeyRefused extends Error {
  constructor(
    message: string,
    readonly code: string,
  ) {
    super(message);
    this.name = 'RekeyRefused';
  }
}

const AT_ONCE = 200;

export const createRekey = (store: Store, master: MasterKey): Rekey => {
  const { keyring, file } = master;
  let isRunning = false;

  const begin = (file: MasterFile): void => {
    const key = randomBytes(32);
    // The key must be on disk before it seals anything.
    file.writeComing(key);
    keyring.add(key);
  };

  return async (recorded) => {
    if (file === null) throw new RekeyRefused(FROM_SETTINGS, 'key_from_settings');
    if (isRunning)
      throw new RekeyRefused(
        'The master key is already being changed. Wait until the change has ended',
        'rekey_running',
      );
    isRunning = true;
    try {
      await refuseShut(store, keyring);
      await store.transact([recorded]);
      if (!keyring.isChanging) begin(file);
      return await finishRekey(store, master);
    } finally {
      isRunning = false;
    }
  };
};

const FROM_SETTINGS =
  'The master key is set by ADJUTANT_MASTER_KEY, which the daemon cannot change. Put the key into ' +
  'keys/master.key, start without ADJUTANT_MASTER_KEY, and try again';

/** A value that no key opens cannot be resealed, so the change would never finish. */
const refuseShut = async (store: Store, keyring: Keyring): Promise<void> => {
  const shut: string[] = [];
  for (const sealed of SEALED) {
    for await (const rows of pagesOf(store, sealed)) {
      const damaged = rows.filter((row) => !canUnseal(keyring, row));
      shut.push(...damaged.map(({ key }) => `${sealed.table}.${sealed.column} of ${key}`));
    }
  }
  if (shut.length === 0) return;
  const some = shut.slice(0, 10).join(', ');
  throw new RekeyRefused(
    `The master key was not changed, because it cannot decrypt these stored secrets: ${some}. Delete these objects or enter their secrets again, then rotate the master key again`,
    'value_damaged',
  );
};

/**
 * Two keys exist until nothing is sealed with the older one; if the daemon is killed before, the next
 * start continues here. Values sealed just before may be written during a pass, so passes are repeated
 * until one finds nothing.
 */
export const finishRekey = async (store: Store, { keyring, file }: MasterKey): Promise<number> => {
  let rewrapped = 0;
  for (let found = -1; found !== 0; rewrapped += found) {
    found = 0;
    for (const sealed of SEALED) found += await rewrapAll(store, keyring, sealed);
  }
  await keepAuditKey(store, keyring);
  file?.replace();
  keyring.dropOlder();
  return rewrapped;
};

export interface SealedValue {
  key: string | number;
  sealed: string;
  bound: string;
}

export const sealedSample = (store: Store, of: SealedColumn): Promise<SealedValue[]> =>
  sealedPage(store, of, null);

const rewrapAll = async (store: Store, keyring: Keyring, of: SealedColumn): Promise<number> => {
  let rewrapped = 0;
  for await (const rows of pagesOf(store, of)) {
    const outcomes = await store.transact(rows.flatMap((row) => rewrapping(keyring, of, row)));
    rewrapped += outcomes.reduce((sum, { changes }) => sum + changes, 0);
  }
  return rewrapped;
};

async function* pagesOf(store: Store, of: SealedColumn): AsyncGenerator<SealedValue[]> {
  let after: SealedValue['key'] | null = null;
  for (;;) {
    const rows: SealedValue[] = await sealedPage(store, of, after);
    yield rows;
    after = rows.at(-1)?.key ?? null;
    if (rows.length < AT_ONCE) return;
  }
}

export const canUnseal = (keyring: Keyring, { bound, sealed }: SealedValue): boolean =>
  unsealOrNull(() => keyring.unseal(bound, sealed).fill(0)) !== null;

/** Reads the next values, few enough for one transaction. */
export const sealedPage = async (
  { db }: Pick<Store, 'db'>,
  { table, key, column, bound, where = '1' }: SealedColumn,
  after: SealedValue['key'] | null,
): Promise<SealedValue[]> => {
  const beyond = after === null ? sql`` : sql`AND ${sql.raw(key)} > ${after}`;
  const { rows } = await sql<SealedValue>`
    SELECT ${sql.raw(key)} AS key, ${sql.raw(column)} AS sealed, ${sql.raw(bound)} AS bound
    FROM ${sql.raw(table)} WHERE ${sql.raw(`${column} IS NOT NULL AND ${where}`)} ${beyond}
    ORDER BY ${sql.raw(key)} LIMIT ${AT_ONCE}`.execute(db);
  return rows;
};

/** A value that was changed meanwhile is left to the next pass. */
const rewrapping = (
  keyring: Keyring,
  { table, key, column }: SealedColumn,
  row: SealedValue,
): Statement[] => {
  const again = keyring.rewrap(row.bound, row.sealed);
  if (again === null) return [];
  const update = `UPDATE ${table} SET ${column} = ? WHERE ${key} = ? AND ${column} = ?`;
  return [{ sql: update, parameters: [again, row.key, row.sealed] }];
};
