import {
  appendFileSync,
  chmodSync,
  existsSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import type Database from 'better-sqlite3';
import { renameDurably } from '../../kernel/durable.js';
import type { AuditHead } from '../engine/protocol.js';
import { appendAt, contradictedOf, endsInLine, headLine, headsIn, readTail } from './headlines.js';
import type { HeadPlace } from './headplaces.js';
import type { HeadRows } from './headrows.js';

const KEPT = 1000;

/**
 * A file of heads: a line `<number> <mac>` for each commit that wrote to the audit log. It knows of
 * entries that were cut from the end of the database, and of a chain that was written anew with the
 * key. One line is enough for both, since each MAC covers all before it; more of them tell where. So
 * that of the home keeps the newest thousand, and beyond them those that the database contradicts:
 * however much is written after a cut, the line that proves it stays. One outside the home keeps
 * all, as it is only added to. What the home's cannot know is that somebody cut the file and the
 * database alike; that somebody took it away is an entry of the log, which cannot be cut unseen.
 */
export class HeadFile {
  private kept: AuditHead | null = null;
  /** Tried once: the next attempt is at the next head. */
  private failed: AuditHead | null = null;
  private hasTold = false;
  private hasRecorded = false;
  /** The log had no entry when it was opened. */
  private isOfNewLog = false;
  /** Lines that may be added before the file is looked at; none where its end may be half a line. */
  private room = 0;
  /** Bytes that it has then: somebody may have emptied it. */
  private size = 0;

  constructor(
    private readonly place: HeadPlace,
    private readonly db: Database.Database,
    private readonly rows: HeadRows,
  ) {}

  /** At the start: says what it knows that the database does not, and whether it is gone. */
  look(): string | null {
    const { name, isOwn, file } = this.place;
    try {
      this.isOfNewLog = this.rows.newest() === null;
      const isDue = this.place.isDue();
      if (isOwn && isDue && !existsSync(file)) writeFileSync(file, '', { mode: 0o600 });
      if (isOwn && existsSync(file)) chmodSync(file, 0o600);
      const heads = this.read();
      this.kept = heads.at(-1) ?? null;
      if (heads.length === 0) return isDue ? null : `${name} is gone: ${NOBODY}`;
      if (isDue) this.place.settle();
      const [first] = contradictedOf(this.db, heads);
      return first ? sayContradicted(name, first, this.rows.newest()) : null;
    } catch (error) {
      return `${name} cannot be read: ${messageOf(error)}`;
    }
  }

  /** Writes a head down if it moved; undefined: it did not. It is told once that it cannot. */
  keep(head: AuditHead): { problem: string | null } | undefined {
    if (isSame(head, this.kept) || isSame(head, this.failed)) return undefined;
    try {
      this.kept = this.write(head);
      this.hasTold = false;
      this.hasRecorded = false;
      return { problem: null };
    } catch (error) {
      this.room = 0;
      this.failed = head;
      if (this.hasTold) return { problem: null };
      this.hasTold = true;
      return { problem: `${this.place.name} cannot be written: ${messageOf(error)}` };
    }
  }

  /** Returns the head that the file ends with. */
  private write(head: AuditHead): AuditHead {
    const line = headLine(head);
    if (this.room > 0 && appendAt(this.place.file, this.size, line)) {
      this.room--;
      this.size += line.length;
      return head;
    }
    const heads = this.read();
    if (heads.length === 0) return this.begin();
    this.goOn(heads, head);
    return head;
  }

  /** A file that has no head gets its first, and the log says so unless it is as new itself. */
  private begin(): AuditHead {
    const { name } = this.place;
    if (!this.hasRecorded && !this.place.isDue()) this.rows.lost(name);
    else if (!this.hasRecorded && !this.isOfNewLog) this.rows.adopted(name);
    this.hasRecorded = true;
    const newest = this.rows.newest();
    if (!newest) throw new Error('there is no entry');
    this.goOn([], newest);
    this.place.settle();
    return newest;
  }

  /** After those that are in the file. What this process still knows may contradict the database. */
  private goOn(heads: AuditHead[], head: AuditHead): void {
    const { file, isOwn } = this.place;
    const last = heads.at(-1);
    const isShort = this.kept !== null && !(last && isSame(last, this.kept));
    const fresh = this.kept && isShort ? [this.kept, head] : [head];
    if (isOwn) this.writeAnew([...heads, ...fresh]);
    else {
      const text = endOf(file) + fresh.map(headLine).join('');
      appendFileSync(file, text, { mode: 0o600, flush: heads.length === 0 });
    }
    this.room = isOwn ? KEPT : Number.POSITIVE_INFINITY;
    this.size = statSync(file).size;
  }

  private read(): AuditHead[] {
    const { file, isOwn } = this.place;
    if (!existsSync(file)) return [];
    return isOwn ? headsIn(readFileSync(file, 'latin1')) : readTail(file);
  }

  private writeAnew(heads: AuditHead[]): void {
    const { file } = this.place;
    const proofs = contradictedOf(this.db, heads.slice(0, -KEPT)).slice(-KEPT);
    const fresh = `${file}.new`;
    const text = [...proofs, ...heads.slice(-KEPT)].map(headLine).join('');
    writeFileSync(fresh, text, { mode: 0o600, flush: true });
    renameDurably(fresh, file);
  }
}

export const NOBODY = 'nobody can tell whether the newest entries were cut';

/** What a line has to begin with: a crash, or a full disk, may have left half of one. */
const endOf = (file: string): string => (!existsSync(file) || endsInLine(file) ? '' : '\n');

const isSame = (a: AuditHead, b: AuditHead | null): boolean =>
  a.number === b?.number && a.mac === b.mac;
const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

const sayContradicted = (name: string, { number }: AuditHead, newest: AuditHead | null): string =>
  number > (newest?.number ?? 0)
    ? `${name} knows entry ${number}, and the database ends at ${newest?.number ?? 0}: entries were cut`
    : `${name} knows another entry ${number} than the database: entries were cut or rewritten`;
