import { type Engine, type EngineEvents, startThread } from './engine/engine.js';
import type { ThreadOptions } from './engine/protocol.js';
import { createReaders, type Readers } from './readers.js';

export type StoreOptions = Omit<ThreadOptions, 'role'>;

/** The engine of the writer thread, and the readers. */
export interface Engines {
  writer: Engine;
  reader: Readers;
}

/**
 * Opens both threads. They load at once, in parallel with the event loop. The reader opens after
 * the writer, which creates the database. Throws OpenRefused with the reason.
 */
export const openThreads = async (
  options: StoreOptions,
  events: EngineEvents,
): Promise<Engines> => {
  const writing = startThread({ ...options, role: 'writer' });
  const reading = startThread({ ...options, role: 'reader' });
  const writer = await writing.open(events).catch((error) => {
    reading.drop();
    throw error;
  });
  try {
    return { writer, reader: createReaders(await reading.open(events), options, events) };
  } catch (error) {
    await writer.close();
    throw error;
  }
};

/** Ends both threads after all earlier calls are done. */
export const closeThreads = async ({ writer, reader }: Engines): Promise<void> => {
  await reader.close();
  await writer.close();
};
