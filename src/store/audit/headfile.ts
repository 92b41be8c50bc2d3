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
import {
  appendAt,
  endsInLine,
  findContradictedHeads,
  headLine,
  headsIn,
  readTail,
} from './headlines.js';
import type { CheckpointFile } from './headplaces.js';
import type { HeadRows } from './headrows.js';

const KEPT = 1000;

/**
 * Contains a line `<number> <mac>` for each commit to the audit log, which reveals entries removed
 * from the end of the database and a chain rewritten with the key. The file in the home keeps the
 * newest thousand lines and those that the database contradicts, which stay as proof. A file
 * outside the home is append-only. The removal of a file is recorded in the log itself.
 */
export class HeadFile {
  private kept: AuditHead | null = null;
  /** A failed head is not retried. The next head is. */
  private failed: AuditHead | null = null;
  private hasReported = false;
  private hasRecorded = false;
  private isOfNewLog = false;
  /** Lines that may be appended before the file is read again. 0 if its end may be incomplete. */
  private room = 0;
  /** Size after the last write, because somebody may have emptied the file. */
  private size = 0;

  constructor(
    private readonly place: CheckpointFile,
    private readonly db: Database.Database,
    private readonly rows: HeadRows,
  ) {}

  /** Returns a message if the file contradicts the database or is missing. */
  look(): string | null {
    const { name, isOwn, file } = this.place;
    try {
      this.isOfNewLog = this.rows.newest() === null;
      const isDue = this.place.isDue();
      if (isOwn && isDue && !existsSync(file)) writeFileSync(file, '', { mode: 0o600 });
      if (isOwn && existsSync(file)) chmodSync(file, 0o600);
      const heads = this.read();
      this.kept = heads.at(-1) ?? null;
      if (heads.length === 0) return isDue ? null : `${name} is missing: ${REMOVAL_UNDETECTABLE}`;
      if (isDue) this.place.settle();
      const [first] = findContradictedHeads(this.db, heads);
      return first ? contradictionMessage(name, first, this.rows.newest()) : null;
    } catch (error) {
      return `${name} cannot be read: ${getErrorMessage(error)}`;
    }
  }

  keep(head: AuditHead): { problem: string | null } | undefined {
    if (isSame(head, this.kept) || isSame(head, this.failed)) return undefined;
    try {
      this.kept = this.write(head);
      this.hasReported = false;
      this.hasRecorded = false;
      return { problem: null };
    } catch (error) {
      this.room = 0;
      this.failed = head;
      if (this.hasReported) return { problem: null };
      this.hasReported = true;
      return { problem: `${this.place.name} is not writable: ${getErrorMessage(error)}` };
    }
  }

  private write(head: AuditHead): AuditHead {
    const line = headLine(head);
    if (this.room > 0 && appendAt(this.place.file, this.size, line)) {
      this.room--;
      this.size += line.length;
      return head;
    }
    const heads = this.read();
    if (heads.length === 0) return this.begin();
    this.appendHeads(heads, head);
    return head;
  }

  private begin(): AuditHead {
    const { name } = this.place;
    if (!this.hasRecorded && !this.place.isDue()) this.rows.lost(name);
    else if (!this.hasRecorded && !this.isOfNewLog) this.rows.adopted(name);
    this.hasRecorded = true;
    const newest = this.rows.newest();
    if (!newest) throw new Error('the audit log is empty');
    this.appendHeads([], newest);
    this.place.settle();
    return newest;
  }

  /** Also writes a head known to this process, because it may contradict the database. */
  private appendHeads(heads: AuditHead[], head: AuditHead): void {
    const { file, isOwn } = this.place;
    const last = heads.at(-1);
    const isShort = this.kept !== null && !(last && isSame(last, this.kept));
    const fresh = this.kept && isShort ? [this.kept, head] : [head];
    if (isOwn) this.rewriteFile([...heads, ...fresh]);
    else {
      const text = getMissingNewline(file) + fresh.map(headLine).join('');
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

  private rewriteFile(heads: AuditHead[]): void {
    const { file } = this.place;
    const proofs = findContradictedHeads(this.db, heads.slice(0, -KEPT)).slice(-KEPT);
    const fresh = `${file}.new`;
    const text = [...proofs, ...heads.slice(-KEPT)].map(headLine).join('');
    writeFileSync(fresh, text, { mode: 0o600, flush: true });
    renameDurably(fresh, file);
  }
}

export const REMOVAL_UNDETECTABLE = 'a removal of the newest entries cannot be detected';

/** A crash or a full disk may have left half a line. */
const getMissingNewline = (file: string): string =>
  !existsSync(file) || endsInLine(file) ? '' : '\n';

const isSame = (a: AuditHead, b: AuditHead | null): boolean =>
  a.number === b?.number && a.mac === b.mac;
const getErrorMessage = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

const contradictionMessage = (
  name: string,
  { number }: AuditHead,
  newest: AuditHead | null,
): string =>
  number > (newest?.number ?? 0)
    ? `${name} records entry ${number}, but the database ends at ${newest?.number ?? 0}: entries were removed`
    : `${name} records a different entry ${number} than the database: entries were removed or rewritten`;
