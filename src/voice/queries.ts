import type { Statement } from '../store/engine/protocol.js';
import { newestFirst, type PageInput } from '../store/page.js';
import { insertRow, selectRows } from '../store/rows.js';
import { type Store, statement, unlessUnmet } from '../store/store.js';
import {
  type TranscriptionPieceRow,
  type TranscriptionRow,
  transcriptionPieceTable,
  transcriptionTable,
} from '../store/tables/voice.js';
import { visibleTo } from '../store/visible.js';

type Status = TranscriptionRow['status'];

/** The facts about a transcription that a run writes. */
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

/** Returns the queries of transcriptions. Statements are for a transaction of the caller. */
export const voiceStore = ({ db, transact }: Store) => ({
  list: (userId: string, { status, ...page }: PageInput & { status?: Status | undefined }) =>
    newestFirst(selectRows(db, transcriptionTable, { status }, visibleTo(userId)), page),

  get: (userId: string, id: string): Promise<TranscriptionRow | undefined> =>
    selectRows(db, transcriptionTable, { id }, visibleTo(userId)).executeTakeFirst(),

  /** Returns the pieces of a transcription in their order; of another user's none. */
  pieces: (userId: string, id: string): Promise<TranscriptionPieceRow[]> =>
    db
      .selectFrom('transcriptions as t')
      .innerJoin('transcription_pieces as p', 'p.transcription_id', 't.id')
      .select(['p.transcription_id', 'p.number', 'p.text', 'p.segments'])
      .where(visibleTo(userId, 't'))
      .where('t.id', '=', id)
      .orderBy('p.number')
      .execute(),

  /** Lists the ids of all users' transcriptions that have not ended. */
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

  /** Changes a transcription that has not ended. */
  change: (id: string, change: TranscriptionFacts & { status?: Status }): Statement =>
    statement(
      db
        .updateTable('transcriptions')
        .set(change)
        .where('id', '=', id)
        .where('status', 'in', ['queued', 'running']),
      1,
    ),

  /** Ends a transcription that has not ended; an error that it has stays. */
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

  /** Returns false if the user has no such transcription. */
  delete: (userId: string, id: string): Promise<boolean> =>
    unlessUnmet(
      transact([
        statement(db.deleteFrom('transcriptions').where(visibleTo(userId)).where('id', '=', id), 1),
      ]),
    ),
});

export type VoiceStore = ReturnType<typeof voiceStore>;
