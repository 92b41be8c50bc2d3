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
 * A file of heads: a line `<number> <mac>` for each commit that wrote to the audit log. It shows if
 * entries were cut from the end of the database, or if the chain was rewritten with the key. One
 * line is enough for both, because each MAC covers all entries before it. More lines show the
 * position. So the file in the home keeps the newest thousand lines, and in addition those that the
 * database contradicts: however much is written after a cut, the line that proves it stays. A file
 * outside the home keeps all lines, because it is append-only. The file in the home cannot show
 * that somebody cut the file and the database alike. If the file itself was removed, the log
 * records that in an entry, which cannot be cut unnoticed.
 */
export class HeadFile {
  private kept: AuditHead | null = null;
  /** The head whose write failed. It is tried once; the next attempt is at the next head. */
  private failed: AuditHead | null = null;
  private hasTold = false;
  private hasRecorded = false;
  /** True if the log had no entry when it was opened. */
  private isOfNewLog = false;
  /**
   * The number of lines that may be added before the file is read again, or 0 if its end may be
   * half a line.
   */
  private room = 0;
  /** The size in bytes after the last write, because somebody may have emptied the file. */
  private size = 0;

  constructor(
    private readonly place: HeadPlace,
    private readonly db: Database.Database,
    private readonly rows: HeadRows,
  ) {}

  /**
   * Reads the file at the start. Returns a message if the database contradicts it, or if it is
   * gone.
   */
  look(): string | null {
    const { name, isOwn, file } = this.place;
    try {
      this.isOfNewLog = this.rows.newest() === null;
      const isDue = this.place.isDue();
      if (isOwn && isDue && !existsSync(file)) writeFileSync(file, '', { mode: 0o600 });
      if (isOwn && existsSync(file)) chmodSync(file, 0o600);
      const heads = this.read();
      this.kept = heads.at(-1) ?? null;
      if (heads.length === 0) return isDue ? null : `${name} is missing: ${NOBODY}`;
      if (isDue) this.place.settle();
      const [first] = contradictedOf(this.db, heads);
      return first ? sayContradicted(name, first, this.rows.newest()) : null;
    } catch (error) {
      return `${name} cannot be read: ${messageOf(error)}`;
    }
  }

  /** Writes a head if it has changed, otherwise returns undefined. A failure is reported once. */
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
      return { problem: `${this.place.name} is not writable: ${messageOf(error)}` };
    }
  }

  /** Writes a head. Returns the head at the end of the file. */
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

  /**
   * Writes the first head of an empty file. The log records this, unless the log is new as well.
   */
  private begin(): AuditHead {
    const { name } = this.place;
    if (!this.hasRecorded && !this.place.isDue()) this.rows.lost(name);
    else if (!this.hasRecorded && !this.isOfNewLog) this.rows.adopted(name);
    this.hasRecorded = true;
    const newest = this.rows.newest();
    if (!newest) throw new Error('the audit log has no entry');
    this.goOn([], newest);
    this.place.settle();
    return newest;
  }

  /**
   * Adds a head after those in the file. A head that this process still knows is added too, because
   * it may contradict the database.
   */
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

export const NOBODY = 'a removal of the newest entries cannot be detected';

/** Returns the prefix of the next line: a crash, or a full disk, may have left half a line. */
const endOf = (file: string): string => (!existsSync(file) || endsInLine(file) ? '' : '\n');

const isSame = (a: AuditHead, b: AuditHead | null): boolean =>
  a.number === b?.number && a.mac === b.mac;
const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

const sayContradicted = (name: string, { number }: AuditHead, newest: AuditHead | null): string =>
  number > (newest?.number ?? 0)
    ? `${name} records entry ${number}, but the database ends at ${newest?.number ?? 0}: entries were removed`
    : `${name} records a different entry ${number} than the database: entries were removed or rewritten`;
