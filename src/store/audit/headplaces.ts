import type Database from 'better-sqlite3';
import type { ThreadOptions } from '../engine/protocol.js';
import { headFileIn } from './headlines.js';

/** A file that the heads of the audit log go to. */
export interface HeadPlace {
  file: string;
  /** What messages call it. */
  name: string;
  /** In the home; else it belongs to somebody else, and is only added to. */
  isOwn: boolean;
  /** Whether it may be without a head yet: none was ever written there. */
  isDue(): boolean;
  /** From now on it may not. */
  settle(): void;
}

/** `audit.head` of the home, and the file outside it where one is set. */
export const headPlaces = (
  db: Database.Database,
  { home, auditHeads }: Pick<ThreadOptions, 'home' | 'auditHeads'>,
): HeadPlace[] => {
  const begun = db
    .prepare<[string], string>('SELECT file FROM audit_heads WHERE place = ?')
    .pluck();
  const begin = db.prepare<[string, string]>(
    `INSERT INTO audit_heads (place, file) VALUES (?, ?)
      ON CONFLICT DO UPDATE SET file = excluded.file`,
  );
  const placeOf = (place: 'home' | 'outside', file: string, name: string): HeadPlace => ({
    ...{ file, name, isOwn: place === 'home' },
    isDue: () => begun.get(place) !== name,
    settle: () => {
      begin.run(place, name);
    },
  });
  const own = placeOf('home', headFileIn(home), 'audit.head');
  return auditHeads === undefined ? [own] : [own, placeOf('outside', auditHeads, auditHeads)];
};
