import type { ScreenPage } from '../../page.js';
import { row } from '../../parts/row.js';
import { factRows, jsonRows } from '../../parts/text.js';
import type { State } from '../../state/state.js';
import { topView } from '../../state/ui.js';
import { detailPage } from '../detail.js';
import { capabilityActs } from './acts.js';
import { capabilityNeeds, capabilityTarget, STATUS_WORDS } from './capabilities.js';
import { capabilityFacts, capabilityHead } from './facts.js';
import { type CapabilityRow, capabilityRows } from './rows.js';

const shownCapability = (state: State): CapabilityRow | null =>
  capabilityRows(state).find(({ item }) => item.id === topView(state.ui).id) ?? null;

export const capabilityPage: ScreenPage = {
  ...detailPage<CapabilityRow>({
    name: 'capability',
    title: 'Capability',
    noun: 'capability',
    tabs: [],
    list: 'capabilities',
    shown: shownCapability,
    head: (state, of) => {
      const [name = row(), bar = row(of.item.kind)] = capabilityHead(
        state,
        of,
        Number.POSITIVE_INFINITY,
      );
      return [name, bar];
    },
    text: (state, of, width) => {
      const { isRaw, isWrapped } = topView(state.ui);
      if (!isRaw) return factRows(capabilityFacts(of), width);
      const { apiId, ...item } = of.item;
      return jsonRows({ ...item, id: apiId, fit: of.fit }, width, isWrapped);
    },
  }),
  acts: (state) => {
    const of = shownCapability(state);
    return of ? capabilityActs(of, state) : {};
  },
  related: (state) => {
    const of = shownCapability(state);
    return of ? capabilityTarget(of) : null;
  },
  line: () => 'adjutant capabilities list',
  glossary: STATUS_WORDS,
  needs: () => capabilityNeeds,
};
