import { isBoom } from '@hapi/boom';
import type { Operations } from '../operations/module.js';
import type { ResearchJobDetail, ResearchRequest } from './contract.js';
import {
  findJob,
  isOpenJob,
  jobDetail,
  type ResearchServiceDeps,
  startResearch,
} from './service.js';

export interface ResearchFollow {
  /** Starts one job per effect. Throws `ResearchRejected`. */
  start(of: { userId: string; request: ResearchRequest; effectId: string }): Promise<BegunResearch>;
  /** Rejects if the signal is aborted. */
  ended(userId: string, id: string, signal: AbortSignal): Promise<ResearchJobDetail>;
  cancel(userId: string, effectId: string): Promise<void>;
}

interface BegunResearch {
  id: string;
  operationId: string;
}

export class ResearchRejected extends Error {
  override name = 'ResearchRejected';
}

const HOUR_MS = 3_600_000;

export const researchFollow = (
  deps: ResearchServiceDeps,
  operations: Pick<Operations, 'ended'>,
): ResearchFollow => ({
  start: async ({ userId, request, effectId }) => {
    try {
      const id = await startResearch(deps, userId, request, { effectId, isFollowed: true });
      const { operation_id: operationId } = await findJob(deps, userId, id);
      return { id, operationId };
    } catch (error) {
      throw isBoom(error) ? new ResearchRejected(error.message) : error;
    }
  },
  ended: async (userId, id, signal) => {
    for (;;) {
      const job = await findJob(deps, userId, id);
      if (!isOpenJob(job)) return jobDetail(deps, userId, id);
      await operations.ended(userId, job.operation_id, { waitMs: HOUR_MS, signal });
      signal.throwIfAborted();
    }
  },
  cancel: async (userId, effectId) => {
    const job = await deps.jobs.ofEffect(userId, effectId);
    if (!job || !isOpenJob(job)) return;
    await deps.starts.cancel(userId, job.operation_id).catch((error) => {
      if (!isBoom(error)) throw error;
    });
  },
});
