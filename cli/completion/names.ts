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

/** Lists that complete an argument: the path, the key of the rows, and the field with the name. */
const LISTS: Record<string, { path: string; key: string; names: string[] }> = {
  hook: { path: '/api/hooks', key: 'hooks', names: ['name'] },
  agent: { path: '/api/agents', key: 'agents', names: ['name'] },
  model: { path: '/api/models', key: 'models', names: ['name'] },
  expert: { path: '/api/experts', key: 'experts', names: ['name'] },
  skill: { path: '/api/skills', key: 'skills', names: ['name'] },
  webhook: { path: '/api/webhooks', key: 'webhooks', names: ['name'] },
  credential: { path: '/api/vault', key: 'credentials', names: ['name'] },
  session: { path: '/api/sessions', key: 'sessions', names: [] },
  approval: { path: '/api/chat/approvals', key: 'approvals', names: [] },
  notification: { path: '/api/notifications', key: 'notifications', names: [] },
  channel: { path: '/api/channels', key: 'channels', names: [] },
  user: { path: '/api/admin/users', key: 'users', names: ['username'] },
  token: { path: '/api/auth/tokens', key: 'tokens', names: ['name'] },
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
    const client = (await context.client()).with({
      fetch: send,
      signal: AbortSignal.timeout(LIMIT_MS),
    });
    const path = `${list.path}?limit=200`;
    const { body } = await client.request({ method: 'GET', path, isRepeatable: false });
    return JSON.stringify(candidatesIn(valueAt(body, list.key), list.names));
  });
  const kept: CompletionCandidate[] = JSON.parse(text);
  return kept;
};

const candidatesIn = (rows: unknown, names: string[]): CompletionCandidate[] =>
  (Array.isArray(rows) ? rows : []).flatMap((row: unknown) => {
    const [id, name] = [textAt(row, 'id'), textAt(row, names[0] ?? 'id')];
    if (names.length > 0 && name && PLAIN.test(name)) return [{ word: name }];
    const about = ABOUT.map((field) => textAt(row, field)).find(Boolean);
    return id ? [{ word: id.slice(-6), about: about && oneLine(about).slice(0, 60) }] : [];
  });

const textAt = (row: unknown, field: string): string | undefined => {
  const value = valueAt(row, field);
  return typeof value === 'string' ? value : undefined;
};
