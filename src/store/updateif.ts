import { type RawBuilder, sql } from 'kysely';
import { type Clock, iso } from '../kernel/clock.js';

/** A row whose `updated_at` is its version: each change makes it later. */
interface Versioned {
  updated_at: string;
}

/**
 * Repeats an attempt to read and write until it resolves to something else than null, which means
 * that what was read had changed before the write.
 */
export const untilWritten = async <T>(attempt: () => Promise<T | null>): Promise<T> => {
  for (;;) {
    const written = await attempt();
    if (written !== null) return written;
  }
};

/**
 * Changes a row by what stands in it. `write` gets the row and the new version; it must write only
 * if the row is as it was read (see `unchangedSince`), and resolve to null otherwise.
 */
export const updateIf = <R extends Versioned, T>(of: {
  clock: Clock;
  read(): Promise<R>;
  write(row: R, version: string): Promise<T | null>;
}): Promise<T> =>
  untilWritten(async () => {
    const row = await of.read();
    const version = iso(Math.max(of.clock.now(), Date.parse(row.updated_at) + 1));
    return of.write(row, version);
  });

/** Builds the condition that a row still has the version that was read. */
export const unchangedSince = ({ updated_at }: Versioned): RawBuilder<boolean> =>
  sql<boolean>`${sql.ref('updated_at')} = ${updated_at}`;
