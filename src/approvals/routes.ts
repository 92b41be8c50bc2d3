import Boom from '@hapi/boom';
import { asPerson } from '../kernel/contract/endpoint.js';
import { badRequest, orNotFound, resource } from '../kernel/route.js';
import {
  ApprovalNotFound,
  ApprovalNotPending,
  DigestMismatch,
  ScopeNotOffered,
  TooManyGrants,
  viewApproval,
} from './approval.js';
import { approvals } from './contract.js';
import type { Decide } from './decide.js';
import type { ApprovalRows } from './rows.js';

export const approvalsResource = ({ rows, decide }: { rows: ApprovalRows; decide: Decide }) =>
  resource('approvals', approvals, {
    list: async ({ query }, by) => {
      const { rows: found, nextCursor } = await rows.list(by.userId, query);
      return { approvals: found.map(viewApproval), nextCursor };
    },
    get: async ({ id }, by) => {
      const row = orNotFound(await rows.owned(by.userId, id), 'No approval with that id');
      return viewApproval(row);
    },
    approve: async ({ body }, by) => {
      const { approvalId, ...decision } = body;
      const { approved, reason, digest, scope } = decision;
      const answer = {
        ...(reason && { reason }),
        ...(digest && { digest }),
        ...(scope && { scope }),
      };
      const data = { approved, ...answer };
      const step = by.record({ target: approvalId, data });
      const { userId: person } = asPerson(by);
      return decide(by.userId, approvalId, { ...decision, by: person, step }).catch(refused);
    },
  });

const refused = (error: unknown): never => {
  if (error instanceof ApprovalNotFound) throw Boom.notFound(error.message);
  if (error instanceof ApprovalNotPending)
    throw Boom.conflict(error.message, { code: 'already_decided' });
  if (error instanceof DigestMismatch) throw Boom.conflict(error.message, { code: 'other_digest' });
  if (error instanceof TooManyGrants) {
    throw Boom.conflict(error.message, { code: 'too_many_grants' });
  }
  if (error instanceof ScopeNotOffered) {
    throw badRequest([{ path: 'scope', message: error.message }]);
  }
  throw error;
};
