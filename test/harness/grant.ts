import { mint } from '../../src/kernel/ids.js';
import { insertRow } from '../../src/store/rows.js';
import { sessionTable } from '../../src/store/tables/agents.js';
import { type GrantRow, grantTable } from '../../src/store/tables/permissions.js';
import type { TestApp } from './app.js';

const AT = '2026-03-01T12:00:00.000Z';

/** Standing approval of that user for a conversation. Resolves to its id. */
export const seedGrant = async (
  { app }: TestApp,
  userId: string,
  more: Partial<GrantRow> = {},
): Promise<string> => {
  const now = Date.now();
  const sessionId = mint('session', now);
  const session = {
    ...{ id: sessionId, user_id: userId, title: 'deploy', channel: 'chat' },
    ...{ created_at: AT, updated_at: AT },
  };
  const row = {
    ...{ id: mint('grant', now), user_id: userId, scope: 'host' as const },
    ...{ tool: 'http', action: 'request', tool_digest: null, origin: 'https://example.org' },
    ...{ method: 'POST', path_prefix: '/deploy', hook_id: null, session_id: sessionId },
    ...{ agent_id: mint('agent', now), approval_id: mint('approval', now) },
    ...{ created_at: AT, expires_at: '2099-01-01T00:00:00.000Z', last_used_at: null, uses: 0 },
    ...more,
  };
  await app.store.transact([insertRow(sessionTable, session), insertRow(grantTable, row)]);
  return row.id;
};
