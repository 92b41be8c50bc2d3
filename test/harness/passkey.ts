import type { TestApp } from './app.js';

/** A stored passkey without a login. Resolves to its id. */
export const seedPasskey = async (app: TestApp, userId: string, name = 'Key'): Promise<string> => {
  const id = `passkey_${userId.slice(-26)}`;
  await app.app.store.db
    .insertInto('passkeys')
    .values({
      id,
      user_id: userId,
      name,
      relying_party: 'localhost',
      credential_id: id,
      public_key: 'AA',
      counter: 0,
      transports: '[]',
      created_at: '2026-03-01T12:00:00.000Z',
      last_used_at: null,
    })
    .execute();
  return id;
};
