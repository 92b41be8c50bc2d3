import { randomBytes } from 'node:crypto';
import { type Clock, iso } from '../../kernel/clock.js';
import { seal, unseal } from '../../kernel/envelope.js';
import { mint } from '../../kernel/ids.js';
import { type Claims, readToken, type SigningKey, signToken } from '../../kernel/token.js';
import type { Store } from '../../store/store.js';

/** Signs and reads tokens with the keys that the database holds, sealed. */
export interface Signer {
  sign(claims: Claims): string;
  read(token: string): Claims | null;
}

const bound = (id: string): string => `signing_keys:${id}`;

export const openSigner = async (store: Store, master: Buffer, clock: Clock): Promise<Signer> => {
  const rows = await store.db
    .selectFrom('signing_keys')
    .select(['id', 'sealed'])
    .orderBy('id')
    .execute();
  const keys = rows.map(({ id, sealed }) => ({ id, secret: unseal(master, bound(id), sealed) }));
  const newest = keys.at(-1) ?? (await makeKey(store, master, clock));
  const byId = new Map([...keys, newest].map((key) => [key.id, key]));
  return {
    sign: (claims) => signToken(newest, claims),
    read: (token) => readToken(byId, token, clock.now()),
  };
};

const makeKey = async (store: Store, master: Buffer, clock: Clock): Promise<SigningKey> => {
  const key = { id: mint('key', clock.now()), secret: randomBytes(32) };
  await store.db
    .insertInto('signing_keys')
    .values({
      id: key.id,
      sealed: seal(master, bound(key.id), key.secret),
      created_at: iso(clock.now()),
    })
    .execute();
  return key;
};
