import {
  appendFileSync,
  chmodSync,
  existsSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type Database from 'better-sqlite3';
import type { AuditHead, AuditReport } from '../protocol.js';
import { newestOf } from './chain.js';

const LINE = /^(\d{1,15}) ([0-9a-f]{64})$/;
const KEPT = 1000;

/**
 * `audit.head` in the home: a line `<number> <mac>` for each commit that wrote to the audit log. It
 * knows of entries that were cut from the end of the database, and of a chain that was written anew
 * with the key. One line is enough for both, since each MAC covers all before it; more of them tell
 * where. So it keeps the newest thousand, and beyond them those that the database contradicts:
 * however much is written after a cut, the line that proves it stays. What it cannot know is that
 * somebody cut the file and the database alike: for that the heads are in the daemon's log too.
 */
export class HeadFile {
  private readonly file: string;
  private readonly newest: () => AuditHead | null;
  private kept: AuditHead | null = null;
  /** Tried once: the next attempt is at the next head. */
  private failed: AuditHead | null = null;
  private hasTold = false;
  /** Lines that may be added before the file is written anew; none where its end may be half a line. */
  private room = 0;

  constructor(
    private readonly home: string,
    private readonly db: Database.Database,
  ) {
    this.file = fileIn(home);
    this.newest = newestOf(db);
  }

  /** Writes down what a crash kept from it, and says what it knows that the database does not. */
  open(): AuditReport {
    const problem = this.look();
    const report = this.keep();
    return { head: this.newest(), problem: problem ?? report?.problem ?? null };
  }

  /** After a commit: writes the head of the chain down if it moved. It is told once that it cannot. */
  keep(): AuditReport | null {
    let head: AuditHead | null = null;
    try {
      head = this.newest();
      if (!head || isSame(head, this.kept) || isSame(head, this.failed)) return null;
      this.write(head);
      this.kept = head;
      this.hasTold = false;
      return { head, problem: null };
    } catch (error) {
      this.room = 0;
      this.failed = head;
      return {
        head,
        problem: this.unlessTold(`audit.head cannot be written: ${messageOf(error)}`),
      };
    }
  }

  private unlessTold(problem: string): string | null {
    if (this.hasTold) return null;
    this.hasTold = true;
    return problem;
  }

  private look(): string | null {
    try {
      if (!existsSync(this.file)) return this.begin();
      chmodSync(this.file, 0o600);
      const heads = readHeads(this.home);
      this.kept = heads.at(-1) ?? null;
      const [first] = contradictedOf(this.db, heads);
      return first ? sayContradicted(first, this.newest()) : null;
    } catch (error) {
      return `audit.head cannot be read: ${messageOf(error)}`;
    }
  }

  private begin(): string | null {
    writeFileSync(this.file, '', { mode: 0o600 });
    return (
      this.newest() && 'audit.head is gone: nobody can tell whether the newest entries were cut'
    );
  }

  private write(head: AuditHead): void {
    if (this.room > 0) {
      appendFileSync(this.file, lineOf(head), { mode: 0o600 });
      this.room--;
      return;
    }
    const heads = [...(existsSync(this.file) ? readHeads(this.home) : []), head];
    const proofs = contradictedOf(this.db, heads.slice(0, -KEPT)).slice(-KEPT);
    const fresh = `${this.file}.new`;
    const text = [...proofs, ...heads.slice(-KEPT)].map(lineOf).join('');
    writeFileSync(fresh, text, { mode: 0o600, flush: true });
    renameSync(fresh, this.file);
    this.room = KEPT;
  }
}

/** What the file says, oldest first. A line that a crash left half written says nothing. */
export const readHeads = (home: string): AuditHead[] =>
  readFileSync(fileIn(home), 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, number, mac] = LINE.exec(line) ?? [];
      return number === undefined || mac === undefined ? [] : [{ number: Number(number), mac }];
    });

/** Those of the heads that the database does not hold, or holds otherwise. */
export const contradictedOf = (db: Database.Database, heads: AuditHead[]): AuditHead[] => {
  const macAt = db.prepare<[number], string>('SELECT mac FROM audit WHERE number = ?').pluck();
  return heads.filter(({ number, mac }) => macAt.get(number) !== mac);
};

const fileIn = (home: string): string => join(home, 'audit.head');
export const lineOf = ({ number, mac }: AuditHead): string => `${number} ${mac}\n`;
const isSame = (a: AuditHead, b: AuditHead | null): boolean =>
  a.number === b?.number && a.mac === b.mac;
const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

const sayContradicted = ({ number }: AuditHead, newest: AuditHead | null): string =>
  number > (newest?.number ?? 0)
    ? `audit.head knows entry ${number}, and the database ends at ${newest?.number ?? 0}: entries were cut`
    : `audit.head knows another entry ${number} than the database: entries were cut or rewritten`;
