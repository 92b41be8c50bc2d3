import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';

/** The subjects of memories. */
export const memoryAbout = () => s.oneOf('MemoryAbout', 'person', 'project', 'preference', 'fact');
/** The text of one memory, a sentence or two; longer texts are documents. */
export const memoryText = () => s.text(2000).pattern(/\S/, 'some text');

export const Memory = s.object('Memory', {
  id: s.id('memory'),
  text: memoryText(),
  about: memoryAbout(),
  pinned: s.flag().description('True: given to every conversation, whatever it is about'),
  createdBy: s.text(80).description('`person`, or the id of the agent or the run that saved it'),
  confirmed: s
    .flag()
    .description(
      'False: saved after text from outside was read, and given to nobody until you say so',
    ),
  createdAt: s.time(),
  updatedAt: s.time(),
});
export type Memory = s.Static<typeof Memory>;

const NewMemory = s.object('NewMemory', {
  text: memoryText(),
  about: s.optional(memoryAbout()),
  pinned: s.optional(s.flag()),
});
export type NewMemory = s.Static<typeof NewMemory>;

const MemoryChanges = s.ignoring(
  s
    .object('MemoryChanges', {
      text: s.optional(memoryText()),
      about: s.optional(memoryAbout()),
      pinned: s.optional(s.flag()),
      confirmed: s.optional(s.flag()),
    })
    .min(1),
  ...['id', 'createdBy', 'createdAt', 'updatedAt'],
);
export type MemoryChanges = s.Static<typeof MemoryChanges>;

export const memories = contract({
  list: endpoint.get('/api/memories', {
    summary: 'List what assistants remember of you, newest first',
    query: pageQuery('MemoryQuery', {
      q: s.optional(s.text(500).description('Words of which one at least must stand in it')),
      about: s.optional(memoryAbout()),
      pinned: s.optional(s.queryFlag()),
      confirmed: s.optional(s.queryFlag()),
    }),
    reply: pageOf('memories', Memory),
  }),
  get: endpoint.get('/api/memories/{id}', { summary: 'Show a memory', reply: Memory }),
  create: endpoint.post('/api/memories', {
    summary: 'Have your assistants remember something',
    example: { text: 'Answers in German, please.', about: 'preference', pinned: true },
    body: NewMemory,
    reply: Memory,
    status: 201,
  }),
  update: endpoint.patch('/api/memories/{id}', {
    summary: 'Change a memory, or confirm one that an agent saved',
    example: { confirmed: true },
    body: MemoryChanges,
    reply: Memory,
  }),
  delete: endpoint.delete('/api/memories/{id}', { summary: 'Forget it' }),
});
