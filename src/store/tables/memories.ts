import { flag, literal, preset, type Row, table, text } from './table.js';

export const memoryTable = table('memories', {
  id: text,
  user_id: text,
  text,
  about: literal<'person' | 'project' | 'preference' | 'fact'>(),
  pinned: preset(flag),
  /** `person`, or the ID of the agent or run. */
  created_by: text,
  /**
   * 0 if the author had read untrusted text. Nobody receives the memory until its owner confirms
   * it.
   */
  confirmed: flag,
  created_at: text,
  updated_at: text,
});
export type MemoryRow = Row<typeof memoryTable>;

export const memoryWordTable = table('memory_words', {
  user_id: text,
  word: text,
  memory_id: text,
});
