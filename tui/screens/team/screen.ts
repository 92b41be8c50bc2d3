import type { ScreenPage } from '../../page.js';
import { row, type ScreenRow, type Size, tonedSpan } from '../../parts/row.js';
import { tabsRow } from '../../parts/tabs.js';
import type { State } from '../../state/state.js';
import { lookOf } from '../../state/ui.js';
import { auditTab, loginsTab, tokensTab, usersTab } from './tabs.js';

/** What admins see of others, and everybody of their own. */
const TABS = ['Users', 'Audit', 'Sessions', 'Tokens'];
const OWN = 2;

const isAdmin = ({ session }: State): boolean => session.who?.role === 'admin';

/** For others than admins the first two tabs show their own things too. */
const tabOf = (state: State): number => {
  const { tab } = lookOf(state.ui);
  return isAdmin(state) || tab >= OWN ? tab : tab + OWN;
};

const shown = (state: State): Omit<ScreenPage, 'tabs'> =>
  [usersTab, auditTab, loginsTab, tokensTab][tabOf(state)] ?? loginsTab;

const teamView = (state: State, size: Size): ScreenRow[] => {
  const names = isAdmin(state) ? TABS : TABS.slice(OWN);
  const tab = isAdmin(state) ? tabOf(state) : tabOf(state) - OWN;
  const head = row(tonedSpan('muted', ''), ...tabsRow(names, tab));
  return [head, [], ...shown(state).view(state, { ...size, height: size.height - 2 })];
};

export const teamPage: ScreenPage = {
  name: 'team',
  root: 'team',
  title: 'Team',
  tabs: TABS,
  items: (state) => shown(state).items?.(state) ?? [],
  acts: (state) => shown(state).acts?.(state) ?? {},
  leaves: (state) => shown(state).leaves?.(state) ?? {},
  pages: (state) => shown(state).pages?.(state) ?? null,
  summary: (state) => shown(state).summary?.(state) ?? '',
  needs: (state) => shown(state).needs(state),
  view: teamView,
  cells: (state) => shown(state).cells?.(state) ?? [],
  detail: (state, width) => shown(state).text?.(state, width) ?? null,
};
