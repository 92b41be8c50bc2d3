import { type Client, contracts, isRecord } from '../../src/client/index.js';

/** Resources without a screen, by their palette names. */
export const browsedResources = [
  ...(['documents', 'research', 'memories', 'recurring'] as const),
  ...(['sessions', 'webhooks', 'channels', 'skills', 'experts'] as const),
] as const;
export type BrowsedResource = (typeof browsedResources)[number];

export interface ResourceVerb {
  name: string;
  summary: string;
  isDelete: boolean;
}

/** Row of any resource: its fields, and the verbs of its contract. */
export interface BrowsedRow {
  id: string;
  name: string;
  fields: Readonly<Record<string, unknown>>;
  verbs: readonly ResourceVerb[];
}

export const isBrowsedResource = (name: string): name is BrowsedResource =>
  browsedResources.some((each) => each === name);

/** One page of a resource. Throws client errors. */
export const readResourceRows = async (
  client: Client,
  resource: string,
  query: { limit: number; cursor?: string },
): Promise<{ rows: BrowsedRow[]; nextCursor: string | null }> => {
  if (!isBrowsedResource(resource)) throw new Error(`Cannot browse ${resource}`);
  const contract = await contracts[resource]();
  const reply: unknown = await client.call(contract.list, { query });
  const fields = isRecord(reply) ? reply : {};
  const rows = Object.values(fields).find(Array.isArray) ?? [];
  const { nextCursor } = fields;
  const verbs = listResourceVerbs(contract);
  return {
    rows: rows.filter(isRecord).map((row) => toBrowsedRow(row, verbs)),
    nextCursor: typeof nextCursor === 'string' ? nextCursor : null,
  };
};

export const callResourceVerb = async (
  client: Client,
  resource: BrowsedResource,
  { name, id }: { name: string; id: string },
): Promise<void> => {
  const endpoint = Object.entries(await contracts[resource]()).find(([key]) => key === name)?.[1];
  if (endpoint) await client.call(endpoint, { id });
};

interface EndpointSummary {
  method: string;
  path: string;
  summary: string;
  body?: unknown;
  secret?: true;
}

/** Endpoints that need only an id, and whose reply contains no secret. */
const listResourceVerbs = (contract: Readonly<Record<string, EndpointSummary>>): ResourceVerb[] =>
  Object.entries(contract)
    .filter(([, { method, path, body, secret }]) => {
      const parts = path.match(/\{\w+\}/g) ?? [];
      return method !== 'GET' && !body && !secret && parts.join() === '{id}';
    })
    .map(([name, { method, summary }]) => ({ name, summary, isDelete: method === 'DELETE' }));

const NAMES = ['name', 'title', 'filename', 'question', 'text', 'url', 'address', 'kind'];

const toBrowsedRow = (fields: Record<string, unknown>, verbs: ResourceVerb[]): BrowsedRow => {
  const words = NAMES.flatMap((each) => {
    const value = fields[each];
    return typeof value === 'string' && value !== '' ? [value] : [];
  });
  const id = typeof fields.id === 'string' ? fields.id : (words[0] ?? '');
  return { id, name: words[0] ?? id, fields, verbs };
};
