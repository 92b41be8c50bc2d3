import type Database from 'better-sqlite3';

export const resultChannel = (db: Database.Database) => {
  const find = db.prepare<[string, string], { channel_id: string | null }>(
    'SELECT channel_id FROM sessions WHERE user_id = ? AND id = ?',
  );
  return ({ userId, sessionId }: { userId: string; sessionId: string }): string | null =>
    find.get(userId, sessionId)?.channel_id ?? null;
};
