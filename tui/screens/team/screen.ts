import type { ScreenPage } from '../../page.js';
import { row, type ScreenRow, type Size, tonedSpan } from '../../parts/row.js';
import { tabsRow } from '../../parts/tabs.js';
import type { State } from '../../state/state.js';
import { lookOf } from '../../state/ui.js';
import { auditTab, loginsTab, tokensTab, usersTab } from './tabs.js';

/**
 * The tabs. Admins see the first two, which are about others; every user sees their own login
 * sessions and tokens.
 */
const TABS = ['Users', 'Audit', 'Sessions', 'Tokens'];
const OWN = 2;

const isAdmin = ({ session }: State): boolean => session.who?.role === 'admin';

/**
 * Returns the index of the shown tab. For users who are not admins, the first two indexes mean
 * their own tabs, too.
 */
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
