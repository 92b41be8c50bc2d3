import { createSecretKey, randomBytes } from 'node:crypto';
import { type Clock, iso } from '../kernel/clock.js';
import { unsealOrNull } from '../kernel/envelope.js';
import { mint } from '../kernel/ids.js';
import type { Log } from '../kernel/log.js';
import { type Claims, readToken, type SigningKey, signToken } from '../kernel/token.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import { type Store, statement } from '../store/store.js';
import type { Keyring } from './keyring.js';

/** Time after the retirement of a key in which a login in progress may still use it. */
const UNDER_WAY_MS = 3600 * 1000;

const bound = (id: string): string => `signing_keys:${id}`;

interface SignerDeps {
  store: Store;
  clock: Clock;
  log: Log;
}

/** A damaged signing key is replaced. The tokens that it signed become invalid. */
export const openSigner = async (deps: SignerDeps, master: Keyring) => {
  const { store, clock, log } = deps;
  const rows = await store.db
    .selectFrom('signing_keys')
    .select(['id', 'sealed', 'retired_at'])
    .execute();
  const keys = new Map<string, SigningKey>();
  for (const { id, sealed } of rows) {
    const secret = unsealOrNull(() => master.unseal(bound(id), sealed));
    if (secret) keys.set(id, { id, secret: createSecretKey(secret) });
    else
      log.error(
        { keyId: id },
        'a signing key is damaged: the tokens that it signed are no longer valid',
      );
  }
  const keep = async (key: SigningKey, also: TransactionStep[]): Promise<string> => {
    const createdAt = iso(clock.now());
    await store.transact([...replacing(store, { key, master, createdAt }), ...also]);
    keys.set(key.id, key);
    return createdAt;
  };
  const inUse = rows.find(({ retired_at }) => retired_at === null);
  const sound = inUse && keys.get(inUse.id);
  let current = sound ?? newKey(clock);
  if (!sound) await keep(current, []);

  return {
    sign: (claims: Claims): string => signToken(current, claims),
    read: (token: string): Claims | null => readToken(keys, token, clock.now()),
    /** `also` is committed with the new key. `retired` is the number of older keys that still verify. */
    rotate: async (also: (keyId: string) => TransactionStep) => {
      const key = newKey(clock);
      const createdAt = await keep(key, [also(key.id)]);
      // Of two overlapping calls, the key of the later one must stay current.
      current = key;
      return { keyId: key.id, createdAt, retired: keys.size - 1 };
    },
    /** Deletes retired keys whose last token has expired. Resolves to their number. */
    forget: async (): Promise<number> => {
      const forgotten = await forget(store, clock.now());
      for (const id of forgotten) keys.delete(id);
      return forgotten.length;
    },
  };
};

export type Signer = Awaited<ReturnType<typeof openSigner>>;

const newKey = (clock: Clock): SigningKey => ({
  id: mint('key', clock.now()),
  secret: createSecretKey(randomBytes(32)),
});

const replacing = (
  { db }: Store,
  { key, master, createdAt }: { key: SigningKey; master: Keyring; createdAt: string },
): TransactionStep[] => {
  const sealed = master.seal(bound(key.id), key.secret.export());
  const row = { id: key.id, sealed, created_at: createdAt, retired_at: null };
  const retire = db.updateTable('signing_keys').set({ retired_at: createdAt });
  return [
    statement(retire.where('retired_at', 'is', null)),
    statement(db.insertInto('signing_keys').values(row), 1),
  ];
};

/** The statement itself checks that no token of the key is still valid. */
const forget = async ({ db }: Store, now: number): Promise<string[]> => {
  const retired = await db
    .selectFrom('signing_keys')
    .select(['id', 'retired_at'])
    .where('retired_at', '<', iso(now - UNDER_WAY_MS))
    .execute();
  const forgotten: string[] = [];
  for (const { id, retired_at } of retired) {
    const begunBefore = iso(Date.parse(retired_at ?? '') + UNDER_WAY_MS);
    const { numDeletedRows } = await db
      .deleteFrom('signing_keys')
      .where('id', '=', id)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('auth_sessions')
              .select('id')
              .where('created_at', '<', begunBefore)
              .where('expires_at', '>', iso(now))
              .where('ended_at', 'is', null)
              .unionAll(
                selectFrom('access_tokens')
                  .select('id')
                  .where('created_at', '<', begunBefore)
                  .where('expires_at', '>', iso(now)),
              ),
          ),
        ),
      )
      .executeTakeFirst();
    if (numDeletedRows === 1n) forgotten.push(id);
  }
  return forgotten;
};
