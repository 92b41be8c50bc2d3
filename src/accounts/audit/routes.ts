import { resource } from '../../kernel/route.js';
import { auditTable } from '../../store/tables/audit.js';
import { viewer } from '../../store/view.js';
import { AuditEntry, audit } from './contract.js';
import { auditReader } from './heads.js';
import type { AuditStore, NamedAuditRow } from './queries.js';
import { verifyAuditLog } from './service.js';

export const auditResource = (deps: { audit: AuditStore }) =>
  resource('audit', audit, {
    list: async ({ query }) => {
      const { rows, nextCursor } = await deps.audit.list(query);
      return { entries: rows.map(viewEntry), nextCursor };
    },
    verify: () => verifyAuditLog(auditReader(deps.audit.look)),
  });

const viewEntry = viewer(auditTable, AuditEntry, {
  data: ({ data }: NamedAuditRow) => (data === null ? null : readData(data)),
  actorName: (row) => row.actor_name,
  impersonatorName: (row) => row.impersonator_name,
});

/** Data that was edited by hand may not be JSON, and must be shown nevertheless. */
const readData = (text: string): Record<string, unknown> => {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { unreadable: text };
  }
};
