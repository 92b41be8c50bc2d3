import { type Engine, type EngineEvents, startThread } from './engine/engine.js';
import type { ThreadOptions } from './engine/protocol.js';
import { createReaders, type Readers } from './readers.js';

export type StoreOptions = Omit<ThreadOptions, 'role'>;
export type AuditKeys = Pick<ThreadOptions, 'auditKey' | 'comingAuditKey'>;

export interface Engines {
  writer: Engine;
  reader: Readers;
}

/** Reader threads are opened on demand, with the audit keys valid then. Throws OpenRefused. */
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

export const closeThreads = async ({ writer, reader }: Engines): Promise<void> => {
  await reader.close();
  await writer.close();
};
