import type { Goal, Item } from '../../page.js';
import type { State } from '../../state/state.js';

/** What the overview knows and can do; pure. */

export const needItems = (state: State): Item[] =>
  (state.overview.known?.needs ?? []).map(({ id, kind, what, name, isUntrusted }) => ({
    id,
    name,
    words: `${kind} ${what} ${isUntrusted ? 'untrusted' : ''}`,
    facts: { kind },
  }));

/** Where a need is answered. */
export const goalOf = (state: State, id: string): Goal | null => {
  const need = state.overview.known?.needs.find((each) => each.id === id);
  if (!need || need.root === 'overview') return null;
  return { root: need.root, places: need.places, selected: id };
};
