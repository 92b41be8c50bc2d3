import { createSecretKey } from 'node:crypto';
import { type Clock, iso } from '../kernel/clock.js';
import { unsealOrNull } from '../kernel/envelope.js';
import type { Log } from '../kernel/log.js';
import type { Secret, VerifyingKey } from '../secrets/module.js';
import { countRows } from '../store/rows.js';
import type { Store } from '../store/store.js';
import {
  type CredentialRow,
  type CredentialVersionRow,
  credentialTable,
} from '../store/tables/vault.js';
import { visibleTo } from '../store/visible.js';

export interface VaultDeps {
  store: Store;
  clock: Clock;
  log: Log;
  openVersion(of: CredentialVersionRow): Secret;
}

export interface UsableCredential extends Pick<CredentialRow, 'id' | 'name'> {
  allowedTools: string[];
  allowedHosts: string[];
}

export interface OpenedCredential extends UsableCredential {
  secret: Secret;
}

/** The vault for the running daemon. It never returns an expired credential. */
export interface Vault {
  /** Reads the keys of hooks again, including everything committed before the call. */
  refresh(): Promise<void>;
  /** The keys with which a hook verifies: the newest, and previous ones during their overlap. */
  keysOf(credentialId: string): VerifyingKey[];
  /** The newest value; null if there is none. */
  newest(credentialId: string): Promise<string | null>;
  /** The newest value, then previous ones during their overlap. */
  liveValues(credentialId: string): Promise<LiveValue[]>;
  /** The user's own credential; null if there is none. */
  borrow(
    userId: string,
    by: { name: string } | { id: string },
  ): Promise<OpenedCredential | 'expired' | 'damaged' | null>;
  /** Resolves to a function that opens the valid values of the matching credentials. */
  openSecretsFor(
    userId: string,
    isMeant: (lending: UsableCredential) => boolean,
  ): Promise<() => Secret[]>;
  /**
   * The newest value of an admin's credential, for work that the daemon does for all users; null if
   * there is none. Of several admins the first one counts.
   */
  newestOfAdmin(name: string): Promise<string | null>;
  /** Null if there is no such credential. */
  termOf(credentialId: string): Promise<CredentialTerm | null>;
  isOwn(userId: string, credentialId: string): Promise<boolean>;
  /** Records the use, to the minute. */
  used(credentialId: string): void;
  /** Destroys versions whose overlap has ended. Resolves to their number. */
  destroyPassed(): Promise<number>;
}

export interface LiveValue {
  secret: Secret;
  /** End of the validity in milliseconds since 1970; null if there is none. */
  until: number | null;
  isOld: boolean;
}

export interface CredentialTerm {
  name: string;
  /** ISO 8601; null if it does not expire. */
  expiresAt: string | null;
}

type LiveVersion = CredentialVersionRow & Pick<CredentialRow, 'expires_at'>;
const MINUTE_MS = 60_000;

export const createVault = ({ store, clock, log, openVersion }: VaultDeps): Vault => {
  const { db } = store;
  let keys = new Map<string, VerifyingKey[]>();
  let reading = Promise.resolve();
  const usedAt = new Map<string, number>();

  const versions = () =>
    db
      .selectFrom('credential_versions as v')
      .innerJoin('credentials as c', 'c.id', 'v.credential_id')
      .selectAll('v')
      .select(['c.expires_at']);

  const newest = (now: string) =>
    versions()
      .where('v.valid_until', 'is', null)
      .where((of) => of.or([of('c.expires_at', 'is', null), of('c.expires_at', '>', now)]));

  const firstValue = (row: LiveVersion | undefined): string | null => {
    const [value] = row ? live(row) : [];
    return value ? value.secret.take((bytes) => bytes.toString()) : null;
  };

  const read = async (): Promise<void> => {
    const rows = await versions()
      .where('v.credential_id', 'in', (of) =>
        of.selectFrom('hooks').select('credential_id').where('credential_id', 'is not', null),
      )
      .orderBy('v.version', 'desc')
      .execute();
    keys = new Map();
    for (const row of rows) {
      keys.set(row.credential_id, [...(keys.get(row.credential_id) ?? []), ...keyOf(row)]);
    }
  };

  /** Empty for a damaged value, which must not disable the others. */
  const live = (row: LiveVersion): LiveValue[] => {
    const { valid_until, expires_at, credential_id: credentialId, version } = row;
    const secret = unsealOrNull(() => openVersion(row));
    if (secret)
      return [{ secret, until: earlier(valid_until, expires_at), isOld: valid_until !== null }];
    log.warn({ credentialId, version }, 'a value in the vault is damaged');
    return [];
  };
  const keyOf = (row: LiveVersion): VerifyingKey[] =>
    live(row).map(({ secret, ...term }) => ({ key: secret.take(createSecretKey), ...term }));

  return {
    refresh: () => {
      reading = reading.catch(() => undefined).then(read);
      return reading;
    },
    keysOf: (credentialId) => keys.get(credentialId) ?? [],
    newest: async (credentialId) => {
      const row = await newest(iso(clock.now()))
        .where('c.id', '=', credentialId)
        .executeTakeFirst();
      return firstValue(row);
    },
    newestOfAdmin: async (name) => {
      const row = await newest(iso(clock.now()))
        .innerJoin('users as u', 'u.id', 'c.user_id')
        .where('c.name', '=', name)
        .where('u.role', '=', 'admin')
        .where('u.disabled_at', 'is', null)
        .orderBy('u.id')
        .executeTakeFirst();
      return firstValue(row);
    },
    liveValues: async (credentialId) => {
      const now = iso(clock.now());
      const rows = await versions()
        .where('v.credential_id', '=', credentialId)
        .where((of) => of.or([of('v.valid_until', 'is', null), of('v.valid_until', '>', now)]))
        .where((of) => of.or([of('c.expires_at', 'is', null), of('c.expires_at', '>', now)]))
        .orderBy('v.version', 'desc')
        .execute();
      return rows.flatMap(live);
    },
    borrow: async (userId, by) => {
      const row = await versions()
        .select(['c.id', 'c.name', 'c.allowed_tools', 'c.allowed_hosts'])
        .where('v.valid_until', 'is', null)
        .where(visibleTo(userId, 'c'))
        .where((of) => ('id' in by ? of('c.id', '=', by.id) : of('c.name', '=', by.name)))
        .executeTakeFirst();
      if (!row) return null;
      if (row.expires_at !== null && row.expires_at <= iso(clock.now())) return 'expired';
      const [value] = live(row);
      return value ? { ...toUsableCredential(row), secret: value.secret } : 'damaged';
    },
    openSecretsFor: async (userId, isMeant) => {
      const rows = await versions()
        .select(['c.id', 'c.name', 'c.allowed_tools', 'c.allowed_hosts'])
        .where(visibleTo(userId, 'c'))
        .where('c.allowed_tools', '!=', '[]')
        .execute();
      const meant = rows.filter((row) => isMeant(toUsableCredential(row)));
      return () => meant.flatMap(live).map(({ secret }) => secret);
    },
    termOf: async (credentialId) => {
      const select = db.selectFrom('credentials').select(['name', 'expires_at as expiresAt']);
      return (await select.where('id', '=', credentialId).executeTakeFirst()) ?? null;
    },
    isOwn: async (userId, id) =>
      (await countRows(db, credentialTable, { id }, visibleTo(userId))) > 0,
    used: (credentialId) => {
      const now = clock.now();
      if (now - (usedAt.get(credentialId) ?? Number.NEGATIVE_INFINITY) < MINUTE_MS) return;
      usedAt.set(credentialId, now);
      db.updateTable('credentials')
        .set({ last_used_at: iso(now) })
        .where('id', '=', credentialId)
        .execute()
        .catch((err) =>
          log.warn({ err, credentialId }, 'the use of a credential could not be recorded'),
        );
    },
    destroyPassed: async () => {
      const { numDeletedRows } = await db
        .deleteFrom('credential_versions')
        .where('valid_until', '<=', iso(clock.now()))
        .executeTakeFirst();
      return Number(numDeletedRows);
    },
  };
};

const toUsableCredential = (
  row: Pick<CredentialRow, 'id' | 'name' | 'allowed_tools' | 'allowed_hosts'>,
): UsableCredential => ({
  id: row.id,
  name: row.name,
  allowedTools: JSON.parse(row.allowed_tools),
  allowedHosts: JSON.parse(row.allowed_hosts),
});

/** The earliest time in milliseconds since 1970; null if all are null. */
const earlier = (...times: (string | null)[]): number | null => {
  const known = times.flatMap((time) => (time === null ? [] : [Date.parse(time)]));
  return known.length === 0 ? null : Math.min(...known);
};
