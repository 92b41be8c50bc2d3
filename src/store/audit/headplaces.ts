import type Database from 'better-sqlite3';
import type { ThreadOptions } from '../engine/protocol.js';
import { headFileIn } from './headlines.js';

export interface CheckpointFile {
  file: string;
  name: string;
  /** A file outside the home is only appended to. */
  isOwn: boolean;
  isDue(): boolean;
  settle(): void;
}

export const headPlaces = (
  db: Database.Database,
  { home, auditHeads }: Pick<ThreadOptions, 'home' | 'auditHeads'>,
): CheckpointFile[] => {
  const begun = db
    .prepare<[string], string>('SELECT file FROM audit_heads WHERE place = ?')
    .pluck();
  const begin = db.prepare<[string, string]>(
    `INSERT INTO audit_heads (place, file) VALUES (?, ?)
      ON CONFLICT DO UPDATE SET file = excluded.file`,
  );
  const placeOf = (place: 'home' | 'outside', file: string, name: string): CheckpointFile => ({
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
