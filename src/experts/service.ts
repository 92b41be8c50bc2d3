import Boom from '@hapi/boom';
import { type Clock, iso } from '../kernel/clock.js';
import { mint } from '../kernel/ids.js';
import { refuseFaults } from '../kernel/route.js';
import { Taken } from '../store/engine/protocol.js';
import type { ExpertRow } from '../store/tables/experts.js';
import { SYSTEM_EXPERTS } from './builtin.js';
import type { ExpertChanges, ExpertReply, NewExpert } from './contract.js';
import type { Expert as Known } from './expert.js';
import { MCP } from './expert.js';
import { expertOf, MOST_EXPERTS } from './experts.js';
import type { ExpertsStore } from './queries.js';

export interface ExpertsDeps {
  experts: ExpertsStore;
  clock: Clock;
  models: { has(name: string): boolean; names(): string[] };
  faultsOfTools(names: string[]): { at: number; message: string }[];
}

interface ExpertQuery {
  limit: number;
  cursor?: string;
  source?: ExpertReply['source'];
}

/**
 * Returns a page: the user's own experts, then the built-in ones. The cursor is the id of the last
 * expert of the page before.
 */
export const listExperts = async (
  { experts }: ExpertsDeps,
  userId: string,
  { limit, cursor, source }: ExpertQuery,
): Promise<{ experts: ExpertReply[]; nextCursor: string | null }> => {
  const last = SYSTEM_EXPERTS.findIndex(({ id }) => id === cursor);
  const hasOwn = source !== 'system' && last < 0;
  const rows = hasOwn ? await experts.list(userId, limit + 1, cursor) : [];
  const shipped = source === 'custom' ? [] : SYSTEM_EXPERTS.slice(last + 1);
  const all = [...rows.map(viewOwn), ...shipped.map(viewSystem)];
  const shown = all.slice(0, limit);
  return { experts: shown, nextCursor: all.length > limit ? (shown.at(-1)?.id ?? null) : null };
};

export const findExpert = async (
  { experts }: ExpertsDeps,
  userId: string,
  id: string,
): Promise<ExpertReply> => {
  const system = SYSTEM_EXPERTS.find((expert) => expert.id === id);
  if (system) return viewSystem(system);
  const row = await experts.get(userId, id);
  if (!row) throw noExpert();
  return viewOwn(row);
};

export const createExpert = async (
  deps: ExpertsDeps,
  userId: string,
  given: NewExpert,
): Promise<ExpertReply> => {
  check(deps, given);
  const now = deps.clock.now();
  const row: ExpertRow = {
    id: mint('expert', now),
    user_id: userId,
    ...{ name: given.name, description: given.description, instructions: given.instructions },
    keywords: keywordsOf(given.keywords ?? []),
    tools: given.tools ? JSON.stringify(given.tools) : null,
    topic: given.topic ?? null,
    model: given.model ?? null,
    created_at: iso(now),
    updated_at: iso(now),
  };
  if (await orTaken(deps.experts.insert(row, MOST_EXPERTS), given.name)) return viewOwn(row);
  throw Boom.conflict(`You have ${MOST_EXPERTS} experts already: delete one first`, {
    code: 'too_many',
  });
};

export const updateExpert = async (
  deps: ExpertsDeps,
  userId: string,
  { id, changes }: { id: string; changes: ExpertChanges },
): Promise<ExpertReply> => {
  refuseSystem(id);
  check(deps, changes);
  const { keywords, tools, ...plain } = changes;
  const change = {
    ...plain,
    ...(keywords && { keywords: keywordsOf(keywords) }),
    ...(tools !== undefined && { tools: tools && JSON.stringify(tools) }),
    updated_at: iso(deps.clock.now()),
  };
  const isDone = await orTaken(deps.experts.update(userId, id, change), changes.name ?? '');
  if (!isDone) throw noExpert();
  return findExpert(deps, userId, id);
};

export const deleteExpert = async (
  { experts }: ExpertsDeps,
  userId: string,
  id: string,
): Promise<void> => {
  refuseSystem(id);
  if (!(await experts.delete(userId, id))) throw noExpert();
};

const noExpert = (): Boom.Boom => Boom.notFound('No expert with that id');

const refuseSystem = (id: string): void => {
  if (!SYSTEM_EXPERTS.some((expert) => expert.id === id)) return;
  throw Boom.conflict(`The expert ${id} ships with Adjutant and stays as it is: make your own`, {
    code: 'system_expert',
  });
};

/**
 * Throws if the name is taken, or if a tool or the model does not exist. A model that is removed
 * later is ignored.
 */
const check = (deps: ExpertsDeps, { name, tools, model }: ExpertChanges): void => {
  if (SYSTEM_EXPERTS.some((expert) => expert.name === name)) throw taken(name ?? '');
  const asked = (tools ?? []).map((tool) => (tool === MCP ? null : tool));
  const known = asked.filter((tool) => tool !== null);
  const faults = deps.faultsOfTools(known).map(({ at, message }) => ({
    path: `tools.${asked.indexOf(known[at] ?? null)}`,
    message,
  }));
  if (typeof model === 'string' && !deps.models.has(model)) {
    const message = `names no model; there are: ${deps.models.names().join(', ')}`;
    faults.push({ path: 'model', message });
  }
  refuseFaults(faults);
};

const orTaken = async (write: Promise<boolean>, name: string): Promise<boolean> => {
  try {
    return await write;
  } catch (error) {
    throw error instanceof Taken ? taken(name) : error;
  }
};

const taken = (name: string): Boom.Boom =>
  Boom.conflict(`There is an expert named ${name} already`, { code: 'name_taken' });

const keywordsOf = (given: string[]): string =>
  JSON.stringify([...new Set(given.map((word) => word.trim().toLowerCase()))].filter(Boolean));

const viewOwn = (row: ExpertRow): ExpertReply => ({
  ...expertOf(row),
  source: 'custom',
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

const viewSystem = (expert: Known): ExpertReply => ({
  ...expert,
  source: 'system',
  createdAt: null,
  updatedAt: null,
});
