import { type RawBuilder, sql } from 'kysely';
import { type Clock, iso } from '../kernel/clock.js';

/** `updated_at` is the version: each change makes it later. */
interface Versioned {
  updated_at: string;
}

/**
 * Retries while the attempt resolves to null, which means that the row had changed before the
 * write.
 */
export const retryUntilWritten = async <T>(attempt: () => Promise<T | null>): Promise<T> => {
  for (;;) {
    const written = await attempt();
    if (written !== null) return written;
  }
};

/**
 * `write` gets the row and the new version. It must write only if the row is unchanged (see
 * `unchangedSince`), otherwise resolve to null.
 */
export const updateIf = <R extends Versioned, T>(of: {
  clock: Clock;
  read(): Promise<R>;
  write(row: R, version: string): Promise<T | null>;
}): Promise<T> =>
  retryUntilWritten(async () => {
    const row = await of.read();
    const version = iso(Math.max(of.clock.now(), Date.parse(row.updated_at) + 1));
    return of.write(row, version);
  });

export const unchangedSince = ({ updated_at }: Versioned): RawBuilder<boolean> =>
  sql<boolean>`${sql.ref('updated_at')} = ${updated_at}`;
