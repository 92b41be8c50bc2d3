import { type Clock, iso } from '../../kernel/clock.js';
import type { ToolName, ToolQuota } from './tool.js';

/** Quotas that the tools reported since the start. Nothing is estimated. */
export const createQuotas = (clock: Clock) => {
  const known = new Map<ToolName, ToolQuota>();

  /** A report on a past window says nothing about the next one. */
  const quotaOf = (name: ToolName): ToolQuota | null => {
    const quota = known.get(name);
    const isOver = quota && quota.resetsAtMs !== null && quota.resetsAtMs <= clock.now();
    return quota && !isOver ? quota : null;
  };

  return {
    report: (name: ToolName, quota: ToolQuota): void => {
      known.set(name, quota);
    },
    /** Returns the milliseconds until the reset, if they were reported. */
    refused: (name: ToolName): number | undefined => {
      const quota = quotaOf(name);
      const nothing = { used: null, limit: null, resetsAtMs: null, source: 'rejected request' };
      known.set(name, { ...(quota ?? nothing), exhausted: true });
      return quota?.resetsAtMs == null ? undefined : quota.resetsAtMs - clock.now();
    },
    replied: (name: ToolName): void => {
      if (known.get(name)?.exhausted) known.delete(name);
    },
    /** Null for values that were not reported. */
    of: (name: ToolName) => {
      const quota: Partial<ToolQuota> = quotaOf(name) ?? {};
      const { used = null, limit = null, resetsAtMs = null, exhausted = null } = quota;
      const resetsAt = resetsAtMs === null ? null : iso(resetsAtMs);
      return { used, limit, resetsAt, exhausted, source: quota.source ?? null };
    },
  };
};

export type Quotas = ReturnType<typeof createQuotas>;
