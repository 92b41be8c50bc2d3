import { createHash } from 'node:crypto';
import { Approval } from '../kernel/contract/approval.js';
import { canonical } from '../kernel/jsonvalue.js';
import { approvalTable } from '../store/tables/permissions.js';
import { viewer } from '../store/view.js';
import { MAX_GRANTS } from './grants/rules.js';

/** A call with its exact arguments. `agentId` is null for the owner's own direct call. */
export type ExactCall = Pick<Approval, 'agentId' | 'tool' | 'action' | 'arguments'>;

/** Thrown if the user has no approval with that id. */
export class NoApproval extends Error {
  override name = 'NoApproval';
  override message = 'No approval with that id';
}

/** Thrown if the approval was decided already, has expired, or was used for its call already. */
export class NotOpen extends Error {
  override name = 'NotOpen';
}

/** Thrown if the call that was shown, or that is to run, is not the requested one. */
export class OtherDigest extends Error {
  override name = 'OtherDigest';
  override message = 'The call is not the one that was shown: its digest differs';
}

/** Thrown if the approval may not be given in that scope. */
export class ScopeNotOffered extends Error {
  override name = 'ScopeNotOffered';
}

/** Thrown if the approval cannot stand, because too many do already; nothing was decided. */
export class TooManyGrants extends Error {
  override name = 'TooManyGrants';
  override message =
    `You have ${MAX_GRANTS} grants, the most there may be: delete some, or approve once`;
}

export const viewApproval = viewer(approvalTable, Approval, {});

/** Returns the SHA-256, in hex, over the caller, the tool and the exact arguments. */
export const callDigest = ({ agentId, tool, action, arguments: args }: ExactCall): string =>
  createHash('sha256')
    .update(canonical({ agentId, tool, action, arguments: args }))
    .digest('hex');
