import { type Engine, type EngineEvents, startThread } from './engine/engine.js';
import type { ThreadOptions } from './engine/protocol.js';

export type StoreOptions = Omit<ThreadOptions, 'role'>;

/** Of the thread that writes, and of the one that reads. */
export interface Engines {
  writer: Engine;
  reader: Engine;
}

/**
 * Both threads load at once, and beside whatever the event loop does; the reader opens after the
 * writer, which makes what is read. OpenRefused says why not.
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
    return { writer, reader: await reading.open(events) };
  } catch (error) {
    await writer.close();
    throw error;
  }
};

/** What was asked before is done first. */
export const closeThreads = async ({ writer, reader }: Engines): Promise<void> => {
  await reader.close();
  await writer.close();
};
