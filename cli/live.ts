import { live } from '../src/client/socket.js';
import type { Context } from './command.js';
import { localTime, now } from './text.js';

type ConnectionNote =
  | { type: 'lost'; reason: string }
  | { type: 'back'; caughtUp: number; missing?: number };

export type RowNote<T> =
  /** The subscription is active: from now on nothing is missed. */
  { type: 'listening' } | { type: 'row'; row: T } | ConnectionNote;

interface FollowedRows<T> {
  channel: string;
  isRow(data: unknown): data is T;
  /** Returns false for a row that was already printed. */
  isNew(row: T): boolean;
  /** Reads the rows from the time when the connection was lost, oldest first. */
  missed(isFirst: boolean): Promise<T[]>;
}

/** Yields every new row, live or read after a lost connection. */
export async function* followRows<T>(
  { url, token, signal, clock }: Context,
  { channel, isRow, isNew, missed }: FollowedRows<T>,
): AsyncGenerator<RowNote<T>, void, undefined> {
  let isFirst = true;
  for await (const note of live({ url, token, signal, clock, channels: [channel] })) {
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

export const connectionRemark = (note: ConnectionNote): string => {
  const at = localTime(new Date(now()).toISOString());
  if (note.type === 'lost')
    return `-- lost the connection to the daemon ${at} (${note.reason}), reconnecting --`;
  return `-- reconnected ${at}, ${note.caughtUp} caught up, ${note.missing || 'none'} missing --`;
};
