import type { PageNeed, ScreenPage } from '../page.js';
import { justify, type ScreenRow } from '../parts/row.js';
import type { PageName } from '../state/locations.js';
import { selectedItem } from '../state/selection.js';
import type { State } from '../state/state.js';
import { topView } from '../state/ui.js';
import { tabsRow } from './detail.js';

type Parts = readonly [ScreenPage, ...ScreenPage[]];

interface TabbedDefinition {
  name: PageName;
  title: string;
  parts: Parts;
  /** Parts that this user sees. */
  shown(state: State): Parts;
  head?(state: State): ScreenRow[];
  /** Data that all parts use. */
  needs?: readonly PageNeed[];
  /** Command that shows the list of a part, or its selected row. */
  line(part: ScreenPage, state: State, selected: string | undefined): string;
}

/** Page whose tabs are pages of their own. */
export const tabbedPage = (of: TabbedDefinition): ScreenPage => {
  const { name, title, parts, head } = of;
  const names = (state: State): string[] => of.shown(state).map((part) => part.title);
  const part = (state: State): ScreenPage => {
    const shown = of.shown(state);
    return shown.find((each) => each === parts[topView(state.ui).tab]) ?? shown[0];
  };
  return {
    name,
    title,
    tabs: parts.map((each) => each.title),
    shownTabs: names,
    items: (state) => part(state).items?.(state) ?? [],
    cells: (state) => part(state).cells?.(state) ?? [],
    acts: (state) => part(state).acts?.(state) ?? {},
    leaves: (state) => part(state).leaves?.(state) ?? {},
    opens: (state) => part(state).opens?.(state) ?? null,
    pages: (state) => part(state).pages?.(state) ?? null,
    summary: (state) => part(state).summary?.(state) ?? '',
    needs: (state) => [...(of.needs ?? []), ...part(state).needs(state)],
    text: (state, width) => (part(state).items ? null : (part(state).text?.(state, width) ?? null)),
    textHeight: (state, { height }) => height - Math.max(1, head?.(state).length ?? 0) - 1,
    detail: (state, width) =>
      part(state).items ? (part(state).text?.(state, width) ?? null) : null,
    ...(head && { head }),
    view: (state, size) => {
      const tabs = tabsRow(names(state), of.shown(state).indexOf(part(state)));
      const [first, ...rest] = head?.(state) ?? [];
      const top = [first ? justify(first, tabs, size.width) : tabs, ...rest, []];
      const body = { ...size, height: Math.max(0, size.height - top.length) };
      return [...top, ...part(state).view(state, body)];
    },
    line: (state) => of.line(part(state), state, selectedItem(part(state), state)?.id),
  };
};
