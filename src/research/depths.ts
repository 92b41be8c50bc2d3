import type { ResearchJobRow } from '../store/tables/research.js';
import { MAX_SOURCES } from './contract.js';

/** The amounts of a depth. */
interface ResearchDepth {
  queries: number;
  /** The pages of each query. */
  pages: number;
  /** The queries for what is missing after the first round; 0: it is not asked. */
  missing: number;
  /** The entries of the person's knowledge. */
  entries: number;
  /** The limits, unless the request says others. */
  maxSeconds: number;
  maxSources: number;
}

/** Each depth. Ours: the queries of the second round, the entries, the limits. */
export const DEPTHS: Record<ResearchJobRow['depth'], ResearchDepth> = {
  quick: { queries: 1, pages: 3, missing: 0, entries: 3, maxSeconds: 120, maxSources: 8 },
  standard: { queries: 3, pages: 4, missing: 0, entries: 6, maxSeconds: 300, maxSources: 24 },
  deep: { queries: 6, pages: 6, missing: 2, entries: 8, maxSeconds: 900, maxSources: MAX_SOURCES },
};
