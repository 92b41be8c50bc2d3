import { DEFAULT_LIMIT } from '../../kernel/contract/page.js';
import { resource } from '../../kernel/route.js';
import { type AuditEntry, audit } from './contract.js';
import type { AuditStore, NamedAuditRow } from './queries.js';
import { verifyAuditLog } from './service.js';

export const auditResource = (deps: { audit: AuditStore }) =>
  resource('audit', audit, {
    list: async ({ query }) => {
      const page = { ...query, limit: query.limit ?? DEFAULT_LIMIT };
      const { rows, nextCursor } = await deps.audit.list(page);
      return { entries: rows.map(viewEntry), nextCursor };
    },
    verify: () => verifyAuditLog(deps.audit),
  });

const viewEntry = (row: NamedAuditRow): AuditEntry => ({
  id: row.id,
  at: row.at,
  actorId: row.actor_id,
  impersonatorId: row.impersonator_id,
  action: row.action,
  target: row.target,
  outcome: row.outcome,
  ip: row.ip,
  requestId: row.request_id,
  data: row.data === null ? null : readData(row.data),
  number: row.number,
  actorName: row.actor_name,
  impersonatorName: row.impersonator_name,
});

/**
 * Reads the data of an entry. Data that was edited by hand may not be JSON, and must be visible all
 * the same.
 */
const readData = (text: string): Record<string, unknown> => {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { unreadable: text };
  }
};
