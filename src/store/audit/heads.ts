import type Database from 'better-sqlite3';
import type { AuditHead, AuditReport, ThreadOptions } from '../engine/protocol.js';
import { HeadFile, REMOVAL_UNDETECTABLE } from './headfile.js';
import { headPlaces } from './headplaces.js';
import { type HeadRows, headRows, lostHead } from './headrows.js';

/** An unwritable file stops no work, because the work already has its entry. */
export class Heads {
  private readonly rows: HeadRows;
  private readonly files: HeadFile[];
  private readonly lost: ReturnType<typeof lostHead>;

  constructor(
    db: Database.Database,
    options: Pick<ThreadOptions, 'home' | 'auditHeads' | 'auditKey'>,
  ) {
    this.rows = headRows(db, options);
    this.lost = lostHead(db);
    this.files = headPlaces(db, options).map((place) => new HeadFile(place, db, this.rows));
  }

  open(): AuditReport {
    const found = joined(this.files.map((file) => file.look())) ?? this.sayLost();
    const report = this.keep();
    return { head: this.newest(), problem: found ?? report?.problem ?? null };
  }

  private sayLost(): string | null {
    const lost = this.lost(undefined);
    return (
      lost &&
      `${lost.file} was missing before entry ${lost.number} was written: ${REMOVAL_UNDETECTABLE}`
    );
  }

  /** Call after each commit. */
  keep(): AuditReport | null {
    const problems: (string | null)[] = [];
    let hasMoved = false;
    let head: AuditHead | null = null;
    // A new file adds an entry of its own, once.
    for (let pass = 0; pass <= this.files.length; pass++) {
      const newest = this.newest();
      if (!newest || newest.mac === head?.mac) break;
      head = newest;
      for (const file of this.files) {
        const done = file.keep(head);
        if (!done) continue;
        hasMoved = true;
        problems.push(done.problem);
      }
    }
    return hasMoved ? { head, problem: joined(problems) } : null;
  }

  private newest(): AuditHead | null {
    try {
      return this.rows.newest();
    } catch {
      return null;
    }
  }
}

const joined = (problems: (string | null)[]): string | null => {
  const messages = problems.filter((problem) => problem !== null);
  return messages.length === 0 ? null : messages.join('; ');
};
