import type Database from 'better-sqlite3';
import type { ThreadOptions } from '../engine/protocol.js';
import { headFileIn } from './headlines.js';

/** A file for the heads of the audit log. */
export interface HeadPlace {
  file: string;
  /** The name of the file in messages. */
  name: string;
  /**
   * True if the file is in the home. A file outside it belongs to somebody else, and is only
   * appended to.
   */
  isOwn: boolean;
  /** True if the file may still be without a head, because none was ever written there. */
  isDue(): boolean;
  /** Records that the file must have a head from now on. */
  settle(): void;
}

/** Returns `audit.head` of the home, and the file outside it if one is set. */
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
    file,
    name,
    isOwn: place === 'home',
    isDue: () => begun.get(place) !== name,
    settle: () => {
      begin.run(place, name);
    },
  });
  const own = placeOf('home', headFileIn(home), 'audit.head');
  return auditHeads === undefined ? [own] : [own, placeOf('outside', auditHeads, auditHeads)];
};
