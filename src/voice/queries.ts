import type { Statement } from '../store/engine/protocol.js';
import { newestFirst, type PageInput } from '../store/page.js';
import { insertRow, selectRows } from '../store/rows.js';
import { isCommitted, type Store, statement } from '../store/store.js';
import {
  type TranscriptionPieceRow,
  type TranscriptionRow,
  transcriptionPieceTable,
  transcriptionTable,
} from '../store/tables/voice.js';
import { visibleTo } from '../store/visible.js';

type Status = TranscriptionRow['status'];

export type TranscriptionFacts = Partial<
  Pick<
    TranscriptionRow,
    | 'duration_seconds'
    | 'engine'
    | 'model'
    | 'language'
    | 'text'
    | 'reason'
    | 'passed_over'
    | 'cost_usd'
    | 'error'
    | 'code'
  >
>;

/** Statements belong to the caller's transaction. */
export const voiceStore = ({ db, transact }: Store) => ({
  list: (userId: string, { status, ...page }: PageInput & { status?: Status | undefined }) =>
    newestFirst(selectRows(db, transcriptionTable, { status }, visibleTo(userId)), page),

  get: (userId: string, id: string): Promise<TranscriptionRow | undefined> =>
    selectRows(db, transcriptionTable, { id }, visibleTo(userId)).executeTakeFirst(),

  pieces: (userId: string, id: string): Promise<TranscriptionPieceRow[]> =>
    db
      .selectFrom('transcriptions as t')
      .innerJoin('transcription_pieces as p', 'p.transcription_id', 't.id')
      .select(['p.transcription_id', 'p.number', 'p.text', 'p.segments'])
      .where(visibleTo(userId, 't'))
      .where('t.id', '=', id)
      .orderBy('p.number')
      .execute(),

  /** For all users. */
  unended: async (): Promise<string[]> => {
    const rows = await db
      .selectFrom('transcriptions')
      .select('id')
      .where('status', 'in', ['queued', 'running'])
      .execute();
    return rows.map(({ id }) => id);
  },

  insert: (row: TranscriptionRow): Statement => insertRow(transcriptionTable, row),

  insertPiece: (row: TranscriptionPieceRow): Statement => insertRow(transcriptionPieceTable, row),

  change: (id: string, change: TranscriptionFacts & { status?: Status }): Statement =>
    statement(
      db
        .updateTable('transcriptions')
        .set(change)
        .where('id', '=', id)
        .where('status', 'in', ['queued', 'running']),
      1,
    ),

  /** Keeps an existing error. */
  end: (
    id: string,
    {
      status,
      error,
      code,
      at,
    }: { status: Status; error: string | null; code: string | null; at: string },
  ): Statement => ({
    sql: `UPDATE transcriptions SET status = ?, error = coalesce(error, ?), code = coalesce(code, ?),
        finished_at = ? WHERE id = ? AND status IN ('queued', 'running')`,
    parameters: [status, error, code, at, id],
  }),

  /** False if not found. */
  delete: (userId: string, id: string): Promise<boolean> =>
    isCommitted(
      transact([
        statement(db.deleteFrom('transcriptions').where(visibleTo(userId)).where('id', '=', id), 1),
      ]),
    ),
});

export type VoiceStore = ReturnType<typeof voiceStore>;
