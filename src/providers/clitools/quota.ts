import { type Clock, iso } from '../../kernel/clock.js';
import type { QuotaTold, ToolName } from './tool.js';

/** The quota that a tool reported last; null for values that it did not report. */
export interface ToolQuota {
  used: number | null;
  limit: number | null;
  resetsAt: string | null;
  exhausted: boolean | null;
  source: string | null;
}

const UNTOLD: ToolQuota = {
  used: null,
  limit: null,
  resetsAt: null,
  exhausted: null,
  source: null,
};

/** Keeps the quotas that the tools have reported since the start. Nothing is estimated. */
export const createQuotas = (clock: Clock) => {
  const told = new Map<ToolName, QuotaTold>();

  /**
   * Returns the current quota. A report on a window that is over says nothing about the next one.
   */
  const quotaOf = (name: ToolName): QuotaTold | null => {
    const quota = told.get(name);
    const isOver = quota && quota.resetsAtMs !== null && quota.resetsAtMs <= clock.now();
    return quota && !isOver ? quota : null;
  };

  return {
    hear: (name: ToolName, quota: QuotaTold): void => {
      told.set(name, quota);
    },
    /**
     * Records that the quota is used up. Returns the ms until it begins anew, if that was reported.
     */
    refused: (name: ToolName): number | undefined => {
      const quota = quotaOf(name);
      const nothing = { used: null, limit: null, resetsAtMs: null, source: 'a refused request' };
      told.set(name, { ...(quota ?? nothing), exhausted: true });
      return quota?.resetsAtMs == null ? undefined : quota.resetsAtMs - clock.now();
    },
    answered: (name: ToolName): void => {
      if (told.get(name)?.exhausted) told.delete(name);
    },
    of: (name: ToolName): ToolQuota => {
      const quota = quotaOf(name);
      if (!quota) return UNTOLD;
      const { used, limit, resetsAtMs, exhausted, source } = quota;
      const resetsAt = resetsAtMs === null ? null : iso(resetsAtMs);
      return { used, limit, resetsAt, exhausted, source };
    },
  };
};

export type Quotas = ReturnType<typeof createQuotas>;
