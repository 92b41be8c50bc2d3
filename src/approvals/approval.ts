import { createHash } from 'node:crypto';
import { Approval } from '../kernel/contract/approval.js';
import { canonical } from '../kernel/jsonvalue.js';
import { approvalTable } from '../store/tables/permissions.js';
import { viewer } from '../store/view.js';
import { MAX_GRANTS } from './grants/rules.js';

/** `agentId` is null for the owner's own direct call. */
export type ExactCall = Pick<Approval, 'agentId' | 'tool' | 'action' | 'arguments'> &
  Partial<Pick<Approval, 'details'>>;

/** The user has no approval with that ID. */
export class ApprovalNotFound extends Error {
  override name = 'ApprovalNotFound';
  override message = 'No approval with that id';
}

/** The approval was already decided or used, or has expired. */
export class ApprovalNotPending extends Error {
  override name = 'ApprovalNotPending';
}

/** The call differs from the one that was requested. */
export class DigestMismatch extends Error {
  override name = 'DigestMismatch';
  override message = 'The call differs from the one that was shown. Review the approval again';
}

/** The approval does not offer that scope. */
export class ScopeNotOffered extends Error {
  override name = 'ScopeNotOffered';
}

/** The limit of standing approvals is reached. Nothing was decided. */
export class TooManyGrants extends Error {
  override name = 'TooManyGrants';
  override message =
    `You already have ${MAX_GRANTS} standing approvals, the maximum. Delete some, or approve once`;
}

export const viewApproval = viewer(approvalTable, Approval, {});

/** SHA-256 in hex over the caller, the tool, the exact arguments and the details, if there are any. */
export const callDigest = ({
  agentId,
  tool,
  action,
  arguments: args,
  details = [],
}: ExactCall): string =>
  createHash('sha256')
    .update(
      canonical({ agentId, tool, action, arguments: args, ...(details.length > 0 && { details }) }),
    )
    .digest('hex');
