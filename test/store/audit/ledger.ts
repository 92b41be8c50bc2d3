import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { migrations } from '../../../migrations/all.js';
import type { AuditRecord } from '../../../src/kernel/contract/audit.js';
import type { AuditReport } from '../../../src/store/engine/protocol.js';
import { openStore, type Store } from '../../../src/store/store.js';

export type LedgerEdit = (db: Database.Database) => void;

/** A store with an audit log, which can be closed, edited as a burglar would, and opened again. */
export interface Ledger {
  home: string;
  store: Store;
  /** What the store said of the log, oldest first. */
  reports: AuditReport[];
  /** Appends so many entries, each in a transaction of its own. */
  write(count: number): Promise<void>;
  /** Closes, has the file edited, and opens again. */
  tamper(edit: LedgerEdit, key?: Uint8Array): Promise<void>;
  /** Closes, and opens again; the heads go to that file as well from then on. */
  reopen(outside?: string): Promise<void>;
  /** The lines of `audit.head`. */
  heads(): Promise<string[]>;
  remove(): Promise<void>;
}

export const LEDGER_KEY = new Uint8Array(32).fill(7);

/** A ledger is a copy of another one where a home is given; `edit` changes it before it opens. */
export const openLedger = async (from?: string, edit?: LedgerEdit): Promise<Ledger> => {
  const home = await mkdtemp(join(tmpdir(), 'adjutant-audit-'));
  if (from !== undefined) await cp(from, home, { recursive: true });
  if (edit) edited(home, edit);
  const reports: AuditReport[] = [];
  const open = (auditKey: Uint8Array, outside?: string) =>
    openStore(
      { home, migrations, auditKey, ...(outside !== undefined && { auditHeads: outside }) },
      {
        lost: (error) => {
          throw error;
        },
        audited: (report) => reports.push(report),
      },
    );
  const ledger: Ledger = {
    home,
    store: await open(LEDGER_KEY),
    reports,
    write: async (count) => {
      for (let n = 0; n < count; n++) await ledger.store.transact([{ audit: entry() }]);
    },
    tamper: async (edit, key = LEDGER_KEY) => {
      await ledger.store.close();
      edited(home, edit);
      ledger.store = await open(key);
    },
    reopen: async (outside) => {
      await ledger.store.close();
      ledger.store = await open(LEDGER_KEY, outside);
    },
    heads: async () => (await readFile(join(home, 'audit.head'), 'utf8')).trim().split('\n'),
    remove: async () => {
      await ledger.store.close();
      await rm(home, { recursive: true });
    },
  };
  return ledger;
};

/** What somebody does who may write the file; the triggers are as they were when he is done. */
export const edited = (home: string, edit: LedgerEdit): void => {
  const db = new Database(join(home, 'adjutant.db'), { timeout: 5000 });
  const guards = db
    .prepare<[], string>(
      `SELECT sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'audit'`,
    )
    .pluck()
    .all();
  db.exec('DROP TRIGGER audit_unchanged; DROP TRIGGER audit_undeleted');
  edit(db);
  // One who leaves them out is found by the next start.
  for (const sql of guards) db.exec(sql);
  db.close();
};

let minted = 0;

/** An entry with something in every column. */
export const entry = (over: Partial<AuditRecord> = {}): AuditRecord => {
  const id = `audit_${String(++minted).padStart(26, '0')}`;
  return {
    id,
    at: '2026-03-01T12:00:00.000Z',
    actorId: 'user_ada',
    impersonatorId: 'user_bob',
    action: 'users.invite',
    target: 'user_eve',
    outcome: 'ok',
    ip: '127.0.0.1',
    requestId: `request_${minted}`,
    data: { role: 'admin', n: minted },
    ...over,
  };
};
