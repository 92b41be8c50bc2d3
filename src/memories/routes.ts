import Boom from '@hapi/boom';
import { type Clock, iso } from '../kernel/clock.js';
import { mint } from '../kernel/ids.js';
import { orNotFound, resource } from '../kernel/route.js';
import { searchWords } from '../kernel/searchwords.js';
import { UniqueViolation } from '../store/engine/protocol.js';
import { type MemoryRow, memoryTable } from '../store/tables/memories.js';
import { viewer } from '../store/view.js';
import { Memory, memories } from './contract.js';
import { MAX_MEMORIES, type MemoriesStore } from './queries.js';

export const viewMemory = viewer(memoryTable, Memory, {});

export const memoriesResource = ({ clock, rows }: { clock: Clock; rows: MemoriesStore }) => {
  const find = async (userId: string, id: string): Promise<MemoryRow> =>
    orNotFound(await rows.get(userId, id), 'No memory with that id');

  return resource('memories', memories, {
    list: async ({ query: { q, ...filter } }, { userId }) => {
      const words = q === undefined ? null : await searchWords(q);
      const page = await rows.list(userId, { ...filter, words });
      return { memories: page.rows.map(viewMemory), nextCursor: page.nextCursor };
    },
    get: async ({ id }, { userId }) => viewMemory(await find(userId, id)),
    create: async ({ body: { text: given, about = 'fact', pinned = false } }, { userId }) => {
      const now = clock.now();
      const text = given.trim();
      const row: MemoryRow = {
        id: mint('memory', now),
        user_id: userId,
        text,
        about,
        pinned: pinned ? 1 : 0,
        created_by: 'person',
        confirmed: 1,
        created_at: iso(now),
        updated_at: iso(now),
      };
      if (await rows.insert(row, await searchWords(text), { agentId: null }))
        return viewMemory(row);
      throw (await rows.withText(userId, text)) ? known() : full();
    },
    update: async ({ id, body: { text, pinned, confirmed, about } }, { userId }) => {
      const change = {
        ...(text !== undefined && { text: text.trim() }),
        ...(about !== undefined && { about }),
        ...(pinned !== undefined && { pinned: pinned ? 1 : 0 }),
        ...(confirmed !== undefined && { confirmed: confirmed ? 1 : 0 }),
        updated_at: iso(clock.now()),
      };
      const words = text === undefined ? null : await searchWords(text);
      await orConflict(rows.update(userId, id, change, words));
      return viewMemory(await find(userId, id));
    },
    delete: async ({ id }, { userId }) => {
      if (!(await rows.delete(userId, id))) await find(userId, id);
    },
  });
};

const orConflict = async (write: Promise<boolean>): Promise<void> => {
  try {
    await write;
  } catch (error) {
    throw error instanceof UniqueViolation ? known() : error;
  }
};

const known = (): Boom.Boom =>
  Boom.conflict('A memory with this text already exists. Update that memory, or use another text', {
    code: 'memory_exists',
  });

const full = (): Boom.Boom =>
  Boom.conflict(`You have the maximum of ${MAX_MEMORIES} memories. Delete a memory first.`, {
    code: 'too_many_memories',
  });
