import { randomBytes } from 'node:crypto';
import { type Clock, iso } from '../kernel/clock.js';
import { unlessShut } from '../kernel/envelope.js';
import { mint } from '../kernel/ids.js';
import type { Log } from '../kernel/log.js';
import { type Claims, readToken, type SigningKey, signToken } from '../kernel/token.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import { type Store, statement } from '../store/store.js';
import type { Keyring } from './keyring.js';

/** Signs and reads tokens with the keys that the database holds, sealed. */
export interface Signer {
  sign(claims: Claims): string;
  read(token: string): Claims | null;
  /**
   * Makes the key that signs from now on, in one transaction with what `also` gives for its id.
   * Those before it go on verifying; `retired` is how many there are.
   */
  rotate(also: (keyId: string) => TransactionStep): Promise<Rotation>;
  /** Deletes retired keys whose last token has ended; resolves to their number. */
  forget(): Promise<number>;
}
export interface Rotation {
  keyId: string;
  createdAt: string;
  retired: number;
}

/** A login that was under way while the key was retired may still have been signed with it. */
const UNDER_WAY_MS = 3600 * 1000;

const bound = (id: string): string => `signing_keys:${id}`;

interface SignerDeps {
  store: Store;
  clock: Clock;
  log: Log;
}

/** Where the key that signs was damaged another takes its place; what it signed is believed no more. */
export const openSigner = async (deps: SignerDeps, master: Keyring): Promise<Signer> => {
  const { store, clock, log } = deps;
  const rows = await store.db
    .selectFrom('signing_keys')
    .select(['id', 'sealed', 'retired_at'])
    .execute();
  const keys = new Map<string, SigningKey>();
  for (const { id, sealed } of rows) {
    const secret = unlessShut(() => master.unseal(bound(id), sealed));
    if (secret) keys.set(id, { id, secret });
    else log.error({ keyId: id }, 'a signing key was damaged: whom its tokens let in logs in anew');
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
    sign: (claims) => signToken(current, claims),
    read: (token) => readToken(keys, token, clock.now()),
    rotate: async (also) => {
      const key = newKey(clock);
      const createdAt = await keep(key, [also(key.id)]);
      // Of two at once the later one is answered later.
      current = key;
      return { keyId: key.id, createdAt, retired: keys.size - 1 };
    },
    forget: async () => {
      const forgotten = await forget(store, clock.now());
      for (const id of forgotten) keys.delete(id);
      return forgotten.length;
    },
  };
};

const newKey = (clock: Clock): SigningKey => ({
  id: mint('key', clock.now()),
  secret: randomBytes(32),
});

const replacing = (
  { db }: Store,
  { key, master, createdAt }: { key: SigningKey; master: Keyring; createdAt: string },
): TransactionStep[] => {
  const sealed = master.seal(bound(key.id), key.secret);
  const row = { id: key.id, sealed, created_at: createdAt, retired_at: null };
  const retire = db.updateTable('signing_keys').set({ retired_at: createdAt });
  return [
    statement(retire.where('retired_at', 'is', null)),
    statement(db.insertInto('signing_keys').values(row), 1),
  ];
};

/** Whether a token that the key signed still counts is asked in the statement that deletes it. */
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
