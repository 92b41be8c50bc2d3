import Boom from '@hapi/boom';
import { DEFAULT_LIMIT } from '../kernel/contract/page.js';
import { resource } from '../kernel/route.js';
import { NoApproval, NotOpen, OtherDigest, viewApproval } from './approval.js';
import type { Approvals } from './approvals.js';
import { approvals } from './contract.js';

export const approvalsResource = ({ rows, decide }: Pick<Approvals, 'rows' | 'decide'>) =>
  resource('approvals', approvals, {
    list: async ({ query }, by) => {
      const page = { ...query, limit: query.limit ?? DEFAULT_LIMIT };
      const { rows: found, nextCursor } = await rows.list(by.userId, page);
      return { approvals: found.map(viewApproval), nextCursor };
    },
    get: async ({ id }, by) => {
      const row = await rows.owned(by.userId, id);
      if (!row) throw Boom.notFound('No approval with that id');
      return viewApproval(row);
    },
    approve: async ({ body }, by) => {
      const { approvalId, ...answer } = body;
      const { approved, reason, digest } = answer;
      const data = { approved, ...(reason && { reason }), ...(digest && { digest }) };
      const step = by.record({ target: approvalId, data });
      return decide(by.userId, approvalId, { ...answer, step }).catch(refused);
    },
  });

const refused = (error: unknown): never => {
  if (error instanceof NoApproval) throw Boom.notFound(error.message);
  if (error instanceof NotOpen) throw Boom.conflict(error.message, { code: 'already_decided' });
  if (error instanceof OtherDigest) throw Boom.conflict(error.message, { code: 'other_digest' });
  throw error;
};
