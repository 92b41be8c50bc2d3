import type { ResearchJobRow } from '../store/tables/research.js';
import { MAX_SOURCES } from './contract.js';

interface ResearchDepth {
  queries: number;
  pages: number;
  /** Number of queries in a second round. 0 skips it. */
  missing: number;
  entries: number;
  maxSeconds: number;
  maxSources: number;
}

export const DEPTHS: Record<ResearchJobRow['depth'], ResearchDepth> = {
  quick: { queries: 1, pages: 3, missing: 0, entries: 3, maxSeconds: 120, maxSources: 8 },
  standard: { queries: 3, pages: 4, missing: 0, entries: 6, maxSeconds: 300, maxSources: 24 },
  deep: { queries: 6, pages: 6, missing: 2, entries: 8, maxSeconds: 900, maxSources: MAX_SOURCES },
};
