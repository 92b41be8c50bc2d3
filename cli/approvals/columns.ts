import type { ApprovalReply, Client } from '../../src/client/index.js';
import type { TableColumn } from '../columns.js';
import { resolveId } from '../resolve.js';
import { age, ago } from '../times.js';

export const approvalColumns: TableColumn<ApprovalReply>[] = [
  { name: 'id', value: (approval) => approval.id, only: 'data' },
  { name: 'call', value: approvalCall },
  { name: 'short', value: shortOf, only: 'table' },
  { name: 'trust', value: approvalTrustText, isState: true },
  { name: 'status', value: (approval) => approval.status, isState: true },
  {
    name: 'expires',
    value: (approval) => approval.expiresAt,
    show: ({ status, expiresAt, decidedAt }) =>
      status === 'pending' ? ago(expiresAt) : age(decidedAt),
  },
  { name: 'reason', value: (approval) => approval.reason },
  { name: 'agent', value: (approval) => approval.agentId },
  { name: 'arguments', value: (approval) => approval.arguments },
  { name: 'digest', value: (approval) => approval.digest, only: 'data' },
];

/** `http.request` */
export function approvalCall({ tool, action }: ApprovalReply): string {
  return `${tool}.${action}`;
}

/** Short form of the digest, which also names the approval. */
export function shortOf({ digest }: ApprovalReply): string {
  return digest.slice(0, 8);
}

/** Loud where the agent reads what came from outside. */
export function approvalTrustText({ untrusted }: ApprovalReply): string {
  return untrusted ? 'UNTRUSTED' : 'trusted';
}

/**
 * The approval that was meant by its id, the end of that, or the beginning of its digest. An agent
 * may ask for the same call again, and then the newest is meant: the others are decided.
 */
export const approvalOf = async (client: Client, typed: string): Promise<ApprovalReply> => {
  const isDigest = /^[0-9a-f]{8,64}$/i.test(typed);
  const newest = new Map<string, string>();
  const id = await resolveId(typed, {
    noun: 'approval',
    listed: 'approvals list',
    page: async (cursor) => {
      const { approvals, nextCursor } = await client.approvals.list({
        query: { limit: 200, cursor },
      });
      for (const { id, digest } of approvals) {
        if (!newest.has(digest)) newest.set(digest, id);
      }
      const rows = approvals.map(({ id, digest }) => ({
        id,
        name: isDigest && newest.get(digest) === id ? digest.slice(0, typed.length) : '',
      }));
      return { rows, nextCursor };
    },
  });
  return client.approvals.get({ id });
};
