import type { Need, Overview } from '../../../src/client/index.js';
import type { Goal, Item } from '../../page.js';
import { EXECUTIONS } from '../../state/live.js';
import { chosenAt, fits } from '../../state/selection.js';
import type { State } from '../../state/state.js';
import { ringOf, type StreamEntry } from '../../state/streams.js';
import { lookOf } from '../../state/ui.js';

/** The data and the acts of the overview; pure. */

const itemOf = ({ id, kind, title, detail, untrusted }: Need): Item => ({
  id,
  name: title,
  words: `${kind} ${detail} ${untrusted ? 'untrusted' : ''}`,
  facts: { kind },
});

export const needItems = ({ overview }: State): Item[] => (overview.known?.needs ?? []).map(itemOf);

/** Returns the needs that the filter leaves. */
export const shownNeeds = ({ overview, ui }: State): Need[] => {
  const { filter } = lookOf(ui);
  const needs = overview.known?.needs ?? [];
  return filter === '' ? needs : needs.filter((need) => fits(itemOf(need), filter));
};

/** Returns the place at which the selected need is dealt with. */
export const overviewGoal = (state: State): Goal | null => {
  const needs = shownNeeds(state);
  const need = needs[chosenAt(needs, lookOf(state.ui).selected)];
  if (!need) return null;
  const { kind, id, hookId } = need;
  if (kind === 'approval') return { root: 'approvals', places: [], selected: id };
  if (kind === 'expiring') return { root: 'vault', places: [], selected: id };
  if (hookId === null) return { root: 'hooks', places: [] };
  const places = [
    { page: 'hook' as const, id: hookId },
    { page: 'execution' as const, id, of: hookId },
  ];
  return { root: 'hooks', places, selected: hookId };
};

type Standing = 'ok' | 'warn' | 'down';

/** Returns the worst status of the parts. */
export const standingOf = ({ parts }: Overview): Standing => {
  if (parts.some(({ status }) => status === 'down')) return 'down';
  return parts.some(({ status }) => status === 'warn') ? 'warn' : 'ok';
};

/** Returns the last event of each execution, the newest first. */
export const latestRuns = ({ streams }: State, most: number): StreamEntry[] => {
  const runs = new Map<unknown, StreamEntry>();
  const { entries } = ringOf(streams, EXECUTIONS);
  for (let at = entries.length - 1; at >= 0 && runs.size < most; at--) {
    const entry = entries[at];
    if (entry && !runs.has(entry.data.id)) runs.set(entry.data.id, entry);
  }
  return [...runs.values()];
};
