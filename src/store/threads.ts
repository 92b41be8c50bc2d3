import { type Engine, type EngineEvents, startThread } from './engine/engine.js';
import type { ThreadOptions } from './engine/protocol.js';
import { createReaders, type Readers } from './readers.js';

export type StoreOptions = Omit<ThreadOptions, 'role'>;
export type AuditKeys = Pick<ThreadOptions, 'auditKey' | 'comingAuditKey'>;

/** The engine of the writer thread, and the readers. */
export interface Engines {
  writer: Engine;
  reader: Readers;
}

/**
 * Opens the writer thread. Reader threads are opened later, when they are needed, with the audit
 * keys that hold then. Throws OpenRefused with the reason.
 */
export const openThreads = async (
  options: StoreOptions,
  events: EngineEvents,
  auditKeys: () => AuditKeys = () => options,
): Promise<Engines> => {
  const writer = await startThread({ ...options, role: 'writer' }).open(events);
  const startReader = (): Promise<Engine> =>
    startThread({ ...options, ...auditKeys(), role: 'reader' }).open(events);
  return { writer, reader: createReaders(writer, startReader) };
};

/** Ends all threads after all earlier calls are done. */
export const closeThreads = async ({ writer, reader }: Engines): Promise<void> => {
  await reader.close();
  await writer.close();
};
