import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { createPageSchema, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';

export const memoryAbout = () => s.oneOf('MemoryAbout', 'person', 'project', 'preference', 'fact');
export const memoryText = () => s.text(2000).pattern(/\S/, 'non-empty text');

export const Memory = s.object('Memory', {
  id: s.id('memory'),
  orgId: s.orgId(),
  text: memoryText(),
  about: memoryAbout(),
  pinned: s
    .boolean()
    .description(
      'Whether every conversation includes the memory, except those of hooks without `memory`',
    ),
  createdBy: s
    .text(80)
    .description(
      '`person`, or the ID of the agent, hook execution or pipeline run that saved the memory',
    ),
  confirmed: s
    .boolean()
    .description(
      'Whether the memory is in use. A memory from a hook, or from an agent or pipeline run that has read ' +
        'content from outside, is unused until you confirm the memory.',
    ),
  createdAt: s.time(),
  updatedAt: s.time(),
});
export type Memory = s.Static<typeof Memory>;

const NewMemory = s.object('NewMemory', {
  text: memoryText(),
  about: s.optional(memoryAbout()),
  pinned: s.optional(
    s
      .boolean()
      .description(
        'Whether every conversation includes the memory, except those of hooks without `memory`. ' +
          'Defaults to `false`.',
      ),
  ),
});
export type NewMemory = s.Static<typeof NewMemory>;

const MemoryChanges = s.ignoreReadOnly(
  s
    .object('MemoryChanges', {
      text: s.optional(memoryText()),
      about: s.optional(memoryAbout()),
      pinned: s.optional(s.boolean()),
      confirmed: s.optional(
        s
          .boolean()
          .description(
            'Set to `true` to confirm that the memory is correct. Agents use only confirmed memories',
          ),
      ),
    })
    .min(1),
  ...['id', 'orgId', 'createdBy', 'createdAt', 'updatedAt'],
);
export type MemoryChanges = s.Static<typeof MemoryChanges>;

export const memories = contract({
  list: endpoint.get('/api/memories', {
    shared: 'member',
    summary: 'List memories by creation time, newest first',
    query: pageQuery('MemoryQuery', {
      q: s.optional(
        s.text(500).description('Words to search for. A memory must contain at least one word.'),
      ),
      about: s.optional(memoryAbout()),
      pinned: s.optional(s.queryFlag()),
      confirmed: s.optional(s.queryFlag()),
    }),
    reply: createPageSchema('memories', Memory),
  }),
  get: endpoint.get('/api/memories/{id}', {
    shared: 'member',
    summary: 'Get a memory',
    reply: Memory,
  }),
  create: endpoint.post('/api/memories', {
    shared: 'admin',
    summary: 'Create a memory',
    example: { text: 'Answers in German, please.', about: 'preference', pinned: true },
    body: NewMemory,
    reply: Memory,
    status: 201,
  }),
  update: endpoint.patch('/api/memories/{id}', {
    shared: 'admin',
    summary: 'Update a memory, or confirm that it is correct',
    example: { confirmed: true },
    body: MemoryChanges,
    reply: Memory,
  }),
  delete: endpoint.delete('/api/memories/{id}', { shared: 'admin', summary: 'Delete a memory' }),
});
