import { flag, literal, preset, type Row, table, text } from './table.js';

/** The memories that assistants have of their owner between conversations. */
export const memoryTable = table('memories', {
  id: text,
  user_id: text,
  text,
  about: literal<'person' | 'project' | 'preference' | 'fact'>(),
  pinned: preset(flag),
  /** `person`, or the id of the agent or the run that saved it. */
  created_by: text,
  /** 0: what saved it had read text from outside; nobody is given it until its owner confirms it. */
  confirmed: flag,
  created_at: text,
  updated_at: text,
});
export type MemoryRow = Row<typeof memoryTable>;

/** The words by which memories are found. */
export const memoryWordTable = table('memory_words', {
  user_id: text,
  word: text,
  memory_id: text,
});
