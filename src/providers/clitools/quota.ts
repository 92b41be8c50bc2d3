import { type Clock, iso } from '../../kernel/clock.js';
import type { QuotaTold, ToolName } from './tool.js';

/** As a tool told it last; null where it did not. */
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

/** What tools have said of their quotas since the start; nothing of it is reckoned. */
export const createQuotas = (clock: Clock) => {
  const told = new Map<ToolName, QuotaTold>();

  /** What was told of a window that is over says nothing of the next. */
  const standing = (name: ToolName): QuotaTold | null => {
    const quota = told.get(name);
    const isOver = quota && quota.resetsAtMs !== null && quota.resetsAtMs <= clock.now();
    return quota && !isOver ? quota : null;
  };

  return {
    hear: (name: ToolName, quota: QuotaTold): void => {
      told.set(name, quota);
    },
    /** It was refused for it; gives how long until it begins anew, where that was told. */
    refused: (name: ToolName): number | undefined => {
      const quota = standing(name);
      const nothing = { used: null, limit: null, resetsAtMs: null, source: 'a refused request' };
      told.set(name, { ...(quota ?? nothing), exhausted: true });
      return quota?.resetsAtMs == null ? undefined : quota.resetsAtMs - clock.now();
    },
    answered: (name: ToolName): void => {
      if (told.get(name)?.exhausted) told.delete(name);
    },
    of: (name: ToolName): ToolQuota => {
      const quota = standing(name);
      if (!quota) return UNTOLD;
      const { used, limit, resetsAtMs, exhausted, source } = quota;
      const resetsAt = resetsAtMs === null ? null : iso(resetsAtMs);
      return { used, limit, resetsAt, exhausted, source };
    },
  };
};

export type Quotas = ReturnType<typeof createQuotas>;
