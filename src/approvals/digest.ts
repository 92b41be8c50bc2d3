import { createHash } from 'node:crypto';
import { canonical } from '../kernel/canonicaljson.js';

/** One exact call. */
export interface ExactCall {
  /** null: the owner's own direct call. */
  agentId: string | null;
  tool: string;
  action: string;
  arguments: Record<string, unknown>;
}

/** SHA-256 over who calls which tool with exactly which arguments, hex. */
export const callDigest = ({ agentId, tool, action, arguments: args }: ExactCall): string =>
  createHash('sha256')
    .update(canonical({ agentId, tool, action, arguments: args }))
    .digest('hex');
