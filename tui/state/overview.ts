import type { Client, Overview } from '../../src/client/index.js';
import { toLoadFailure } from './errors.js';
import type { LoadFailure } from './lists.js';

export interface OverviewState {
  known: Overview | null;
  loadedAt: number | null;
  trouble: LoadFailure | null;
}
export type OverviewAction =
  | { type: 'overview.read'; overview: Overview; at: number }
  | { type: 'overview.failed'; trouble: LoadFailure };

export const overview = (): OverviewState => ({ known: null, loadedAt: null, trouble: null });

export const reduceOverview = (state: OverviewState, action: OverviewAction): OverviewState =>
  action.type === 'overview.read'
    ? { known: action.overview, loadedAt: action.at, trouble: null }
    : { ...state, trouble: action.trouble };

/** Loads the overview and returns the action with the result or the error. */
export const loadOverview = async (client: Client, now: () => number): Promise<OverviewAction> => {
  try {
    return { type: 'overview.read', overview: await client.overview.get(), at: now() };
  } catch (error) {
    return { type: 'overview.failed', trouble: toLoadFailure(error) };
  }
};
