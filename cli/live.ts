import { live } from '../src/client/socket.js';
import type { Context } from './command.js';
import { localTime, now } from './text.js';

type ConnectionNote =
  | { type: 'lost'; reason: string }
  | { type: 'back'; caughtUp: number; missing?: number };

/** News of the rows that are followed. */
export type RowNote<T> =
  /** The subscription is active: from now on nothing is missed. */
  { type: 'listening' } | { type: 'row'; row: T } | ConnectionNote;

interface FollowedRows<T> {
  channel: string;
  isRow(data: unknown): data is T;
  /** Returns false for a row that was printed already. */
  isNew(row: T): boolean;
  /** Reads the rows that came while the connection was lost, oldest first. */
  missed(isFirst: boolean): Promise<T[]>;
}

/** Every row that comes from now on: live, and read where the connection was lost. */
export async function* followRows<T>(
  { url, token, signal }: Context,
  { channel, isRow, isNew, missed }: FollowedRows<T>,
): AsyncGenerator<RowNote<T>, void, undefined> {
  let isFirst = true;
  for await (const note of live({ url, token, signal, now, channels: [channel] })) {
    if (note.type === 'lost') {
      yield note;
    } else if (note.type === 'event') {
      if (isRow(note.data) && isNew(note.data)) yield { type: 'row', row: note.data };
    } else {
      const rows = (await missed(isFirst)).filter(isNew);
      yield isFirst ? { type: 'listening' } : { type: 'back', caughtUp: rows.length };
      isFirst = false;
      for (const row of rows) yield { type: 'row', row };
    }
  }
}

/** Says that the daemon was lost, or is back. */
export const connectionRemark = (note: ConnectionNote): string => {
  const at = localTime(new Date(now()).toISOString());
  if (note.type === 'lost') return `-- lost the daemon ${at} (${note.reason}), trying --`;
  return `-- back ${at}, ${note.caughtUp} caught up, ${note.missing || 'none'} missing --`;
};
