import type { contracts, Endpoint } from '../../src/client/index.js';
import { send } from '../../src/client/send.js';
import { valueAt } from '../columns.js';
import type { Context } from '../context.js';
import { oneLine } from '../text.js';
import { cached } from './cache.js';

/** One word that fits at the cursor. */
export interface CompletionCandidate {
  word: string;
  about?: string;
}

/** The words that fit, or that a path fits. */
export type Fitting = CompletionCandidate[] | 'files';

/** Resources whose list completes an argument, and the field of a row that is its name. */
const LISTS: Record<string, { resource: keyof typeof contracts; name?: string }> = {
  hook: { resource: 'hooks', name: 'name' },
  agent: { resource: 'agents', name: 'name' },
  model: { resource: 'models', name: 'name' },
  expert: { resource: 'experts', name: 'name' },
  skill: { resource: 'skills', name: 'name' },
  webhook: { resource: 'webhooks', name: 'name' },
  credential: { resource: 'vault', name: 'name' },
  session: { resource: 'sessions' },
  approval: { resource: 'approvals' },
  notification: { resource: 'notifications' },
  channel: { resource: 'channels' },
  user: { resource: 'users', name: 'username' },
  token: { resource: 'tokens', name: 'name' },
};
const LIMIT_MS = 300;
/** Matches a name that a shell need not quote; others are offered by the end of their id. */
const PLAIN = /^[\w.@/+][\w.@/+:-]*$/;
const ABOUT = ['title', 'summary', 'tool', 'kind', 'status', 'name'];

/** Candidates of a kind by name; none where that takes too long or fails. */
export const namesOfKind = async (
  kind: string,
  context: Context,
): Promise<CompletionCandidate[]> => {
  const list = LISTS[kind];
  if (!list) return [];
  const { url, token = '' } = context;
  const text = await cached([url, token, kind], async () => {
    const { contracts } = await import('../../src/client/index.js');
    const endpoints: Record<string, Endpoint> = await contracts[list.resource]();
    const path = `${endpoints.list?.path}?limit=200`;
    // The contract is loaded before the time begins.
    const client = (await context.client()).with({
      fetch: send,
      signal: AbortSignal.timeout(LIMIT_MS),
    });
    const { body } = await client.request<object>({ method: 'GET', path, isRepeatable: false });
    return JSON.stringify(candidatesIn(Object.values(body).find(Array.isArray), list.name));
  });
  const kept: CompletionCandidate[] = JSON.parse(text);
  return kept;
};

const candidatesIn = (rows: unknown, nameField?: string): CompletionCandidate[] =>
  (Array.isArray(rows) ? rows : []).flatMap((row: unknown) => {
    const [id, name] = [textAt(row, 'id'), textAt(row, nameField ?? 'id')];
    if (nameField && name && PLAIN.test(name)) return [{ word: name }];
    const about = ABOUT.map((field) => textAt(row, field)).find(Boolean);
    return id ? [{ word: id.slice(-6), about: about && oneLine(about).slice(0, 60) }] : [];
  });

const textAt = (row: unknown, field: string): string | undefined => {
  const value = valueAt(row, field);
  return typeof value === 'string' ? value : undefined;
};
