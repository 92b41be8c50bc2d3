import Boom from '@hapi/boom';
import { type Clock, iso } from '../kernel/clock.js';
import { cutPage, DEFAULT_LIMIT } from '../kernel/contract/page.js';
import { mint } from '../kernel/ids.js';
import { resource, throwIfFaults } from '../kernel/route.js';
import { UniqueViolation } from '../store/engine/protocol.js';
import type { ExpertRow } from '../store/tables/experts.js';
import { SYSTEM_EXPERTS } from './builtin.js';
import { type ExpertChanges, type ExpertReply, experts } from './contract.js';
import { type Expert, MCP } from './expert.js';
import { type ExpertsStore, MAX_EXPERTS, viewOwn } from './queries.js';

export interface ExpertsDeps {
  experts: ExpertsStore;
  clock: Clock;
  models: { has(userId: string, name: string): boolean; names(userId: string): string[] };
  faultsOfTools(userId: string, names: string[]): { at: number; message: string }[];
}

export const expertsResource = (deps: ExpertsDeps) => {
  const { experts: store, clock } = deps;

  const find = async (userId: string, id: string): Promise<ExpertReply> => {
    const system = SYSTEM_EXPERTS.find((expert) => expert.id === id);
    if (system) return viewSystem(system);
    const row = await store.get(userId, id);
    if (!row) throw noExpert();
    return viewOwn(row);
  };

  return resource('experts', experts, {
    // The cursor is the ID of the last expert of the previous page.
    list: async ({ query }, by) => {
      const { limit = DEFAULT_LIMIT, cursor, source } = query;
      const last = SYSTEM_EXPERTS.findIndex(({ id }) => id === cursor);
      const hasOwn = source !== 'system' && last < 0;
      const rows = hasOwn ? await store.list(by.userId, limit + 1, cursor) : [];
      const shipped = source === 'custom' ? [] : SYSTEM_EXPERTS.slice(last + 1);
      const { rows: shown, nextCursor } = cutPage(
        [...rows.map(viewOwn), ...shipped.map(viewSystem)],
        limit,
      );
      return { experts: shown, nextCursor };
    },
    get: ({ id }, by) => find(by.userId, id),
    create: async ({ body }, by) => {
      check(deps, by.userId, body);
      const now = clock.now();
      const { keywords = [], tools, topic = null, model = null, ...named } = body;
      const row: ExpertRow = {
        ...named,
        id: mint('expert', now),
        user_id: by.userId,
        keywords: normalizeKeywords(keywords),
        tools: tools ? JSON.stringify(tools) : null,
        topic,
        model,
        created_at: iso(now),
        updated_at: iso(now),
      };
      if (await orConflict(store.insert(row, MAX_EXPERTS), body.name)) return viewOwn(row);
      throw Boom.conflict(
        `You have the maximum of ${MAX_EXPERTS} experts. Delete an expert first.`,
        {
          code: 'too_many',
        },
      );
    },
    update: async ({ id, body }, by) => {
      refuseSystem(id);
      check(deps, by.userId, body);
      const { keywords, tools, ...plain } = body;
      const change = {
        ...plain,
        ...(keywords && { keywords: normalizeKeywords(keywords) }),
        ...(tools !== undefined && { tools: tools && JSON.stringify(tools) }),
        updated_at: iso(clock.now()),
      };
      const isDone = await orConflict(store.update(by.userId, id, change), body.name ?? '');
      if (!isDone) throw noExpert();
      return find(by.userId, id);
    },
    delete: async ({ id }, by) => {
      refuseSystem(id);
      if (!(await store.delete(by.userId, id))) throw noExpert();
    },
  });
};

const noExpert = (): Boom.Boom => Boom.notFound('No expert with that id');

const refuseSystem = (id: string): void => {
  if (!SYSTEM_EXPERTS.some((expert) => expert.id === id)) return;
  throw Boom.conflict(
    `The expert ${id} is built in and cannot be changed. Create your own expert instead.`,
    {
      code: 'system_expert',
    },
  );
};

/** A model that is deleted later is ignored. */
const check = (deps: ExpertsDeps, userId: string, { name, tools, model }: ExpertChanges): void => {
  if (SYSTEM_EXPERTS.some((expert) => expert.name === name)) throw taken(name ?? '');
  const listed = (tools ?? []).map((tool) => (tool === MCP ? null : tool));
  const known = listed.filter((tool) => tool !== null);
  const faults = deps.faultsOfTools(userId, known).map(({ at, message }) => ({
    path: `tools.${listed.indexOf(known[at] ?? null)}`,
    message,
  }));
  if (typeof model === 'string' && !deps.models.has(userId, model)) {
    const message = `must be one of the models: ${deps.models.names(userId).join(', ')}`;
    faults.push({ path: 'model', message });
  }
  throwIfFaults(faults);
};

const orConflict = async (write: Promise<boolean>, name: string): Promise<boolean> => {
  try {
    return await write;
  } catch (error) {
    throw error instanceof UniqueViolation ? taken(name) : error;
  }
};

const taken = (name: string): Boom.Boom =>
  Boom.conflict(`An expert named ${name} already exists. Choose another name`, {
    code: 'name_taken',
  });

const normalizeKeywords = (given: string[]): string =>
  JSON.stringify([...new Set(given.map((word) => word.trim().toLowerCase()))].filter(Boolean));

const viewSystem = (expert: Expert): ExpertReply => ({
  ...expert,
  source: 'system',
  createdAt: null,
  updatedAt: null,
});
