import Boom from '@hapi/boom';
import { resource } from '../../kernel/route.js';
import { auditTable } from '../../store/tables/audit.js';
import { viewer } from '../../store/view.js';
import { AuditEntry, audit } from './contract.js';
import { auditReader } from './heads.js';
import type { AuditFilter, AuditStore, NamedAuditRow } from './queries.js';
import { verifyAuditLog } from './service.js';

export const auditResource = (deps: { audit: AuditStore }) => {
  const list = async (filter: AuditFilter) => {
    const { rows, nextCursor } = await deps.audit.list(filter);
    return { entries: rows.map(viewEntry), nextCursor };
  };
  return resource('audit', audit, {
    list: ({ query }) => list(query),
    verify: () => verifyAuditLog(auditReader(deps.audit.look)),
    org: async ({ id, query }, { userId }) => {
      const role = await deps.audit.orgRole(userId, id);
      if (role === null) throw Boom.notFound('No organization with that id');
      if (role === 'member') {
        throw Boom.forbidden('Only owners and admins of the organization may read its audit log', {
          code: 'org_role',
        });
      }
      return list({ ...query, orgId: id });
    },
  });
};

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
