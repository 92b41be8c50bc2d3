import { createHash } from 'node:crypto';
import { canonical } from '../kernel/canonicaljson.js';

/** A call with its exact arguments. */
export interface ExactCall {
  /** The id of the agent; null for the owner's own direct call. */
  agentId: string | null;
  tool: string;
  action: string;
  arguments: Record<string, unknown>;
}

/** Returns the SHA-256, in hex, over the caller, the tool and the exact arguments. */
export const callDigest = ({ agentId, tool, action, arguments: args }: ExactCall): string =>
  createHash('sha256')
    .update(canonical({ agentId, tool, action, arguments: args }))
    .digest('hex');
