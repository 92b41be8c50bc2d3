import { createSecretKey } from 'node:crypto';
import { type Clock, iso } from '../kernel/clock.js';
import { unlessShut } from '../kernel/envelope.js';
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

/** A credential with the tools and hosts that may receive it. */
export interface UsableCredential extends Pick<CredentialRow, 'id' | 'name'> {
  allowedTools: string[];
  allowedHosts: string[];
}

/** A credential that a tool may use, with its value. */
export interface OpenedCredential extends UsableCredential {
  secret: Secret;
}

/** The vault as the running daemon uses it. An expired credential is never returned. */
export interface Vault {
  /**
   * Reads the keys with which hooks verify anew, including all that was committed before the call.
   */
  refresh(): Promise<void>;
  /**
   * Returns the keys with which a hook that names the credential verifies: the newest value, and
   * older ones during their overlap.
   */
  keysOf(credentialId: string): VerifyingKey[];
  /** Returns the newest value; null if there is none. */
  newest(credentialId: string): Promise<string | null>;
  /**
   * Returns the values that sign and verify now: the newest, then older ones while their overlap
   * lasts.
   */
  liveValues(credentialId: string): Promise<LiveValue[]>;
  /** Returns the user's own credential with that name or ID; null if there is none. */
  borrow(
    userId: string,
    by: { name: string } | { id: string },
  ): Promise<OpenedCredential | 'expired' | 'damaged' | null>;
  /**
   * Returns a function that opens the live values of the user's credentials for which `isMeant`
   * returns true.
   */
  openSecretsFor(
    userId: string,
    isMeant: (lending: UsableCredential) => boolean,
  ): Promise<() => Secret[]>;
  /**
   * Returns the newest value of the credential with that name that an admin has, for what the daemon
   * does for all users; null if no admin has one. Of several admins the first one counts.
   */
  newestOfAdmin(name: string): Promise<string | null>;
  /** Returns the credential's name and expiry; null if there is none. */
  termOf(credentialId: string): Promise<CredentialTerm | null>;
  isOwn(userId: string, credentialId: string): Promise<boolean>;
  /** Records that the credential was used, to the minute. */
  used(credentialId: string): void;
  /** Destroys the versions whose overlap has ended, and resolves to their number. */
  destroyPassed(): Promise<number>;
}

export interface LiveValue {
  secret: Secret;
  /** The end of its validity in milliseconds since 1970; null if it never ends. */
  until: number | null;
  isOld: boolean;
}

export interface CredentialTerm {
  name: string;
  /** The expiry in ISO 8601; null if there is none. */
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

  /**
   * Returns no value if it does not open, so that one damaged value does not disable the others.
   */
  const live = (row: LiveVersion): LiveValue[] => {
    const { valid_until, expires_at, credential_id: credentialId, version } = row;
    const secret = unlessShut(() => openVersion(row));
    if (secret)
      return [{ secret, until: earlier(valid_until, expires_at), isOld: valid_until !== null }];
    log.warn({ credentialId, version }, 'a value of the vault does not open');
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
      return value ? { ...lendingOf(row), secret: value.secret } : 'damaged';
    },
    openSecretsFor: async (userId, isMeant) => {
      const rows = await versions()
        .select(['c.id', 'c.name', 'c.allowed_tools', 'c.allowed_hosts'])
        .where(visibleTo(userId, 'c'))
        .where('c.allowed_tools', '!=', '[]')
        .execute();
      const meant = rows.filter((row) => isMeant(lendingOf(row)));
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
        .catch((err) => log.warn({ err, credentialId }, 'the use of a credential was not noted'));
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

const lendingOf = (
  row: Pick<CredentialRow, 'id' | 'name' | 'allowed_tools' | 'allowed_hosts'>,
): UsableCredential => ({
  id: row.id,
  name: row.name,
  allowedTools: JSON.parse(row.allowed_tools),
  allowedHosts: JSON.parse(row.allowed_hosts),
});

/** Returns the earliest time in milliseconds since 1970; null if all are null. */
const earlier = (...times: (string | null)[]): number | null => {
  const given = times.flatMap((time) => (time === null ? [] : [Date.parse(time)]));
  return given.length === 0 ? null : Math.min(...given);
};
