import { helpOverflow } from '../frame/help.js';
import { isPrefix, type Move } from '../keys.js';
import { openField } from '../parts/field.js';
import { pages, screenPage } from '../screens.js';
import { computeBodySize } from '../state/layout.js';
import {
  digitRoots,
  type JumpTarget,
  letterRoots,
  type Root,
  type ScreenPlace,
} from '../state/locations.js';
import { filteredItems, selectedIndex } from '../state/selection.js';
import type { State, StateAction } from '../state/state.js';
import { getScreenStack, LETTER_MS, type ScreenView, topView } from '../state/ui.js';

const steps = (state: State, verb: Move, count: number, at: number): number => {
  const half = Math.max(1, Math.floor(computeBodySize(state).height / 2));
  const by: Partial<Record<Move, number>> = {
    down: 1,
    up: -1,
    'page-down': half,
    'page-up': -half,
  };
  const step = by[verb];
  if (step !== undefined) return at + step;
  return verb === 'first' ? 0 : count - 1;
};

const looked = (change: Partial<ScreenView>): StateAction => ({ type: 'ui.looked', change });

/** Moves the selection, or scrolls the text if it has the focus. */
export const moveActions = (state: State, verb: Move): StateAction[] => {
  const page = screenPage(state);
  const items = filteredItems(page, state);
  const look = topView(state.ui);
  if (items.length === 0 || look.pane === 1) return [scrollAction(state, verb)];
  const at = selectedIndex(items, look.selected);
  const to = Math.max(0, Math.min(items.length - 1, steps(state, verb, items.length, at)));
  const selected = items[to]?.id ?? null;
  return selected === look.selected ? [] : [looked({ selected, scroll: 0, isFollowing: false })];
};

export const helpAction = (state: State, verb: Move): StateAction => {
  const most = helpOverflow(state);
  const to = steps(state, verb, most + 1, Math.min(state.ui.helpTop, most));
  return { type: 'ui.help', isHelp: true, helpTop: Math.max(0, Math.min(most, to)) };
};

/** Maximum scroll position of the text, in rows. */
const maxScroll = (state: State): number => {
  const page = screenPage(state);
  const size = computeBodySize(state);
  const rows = page.text?.(state, size.width)?.length ?? 0;
  return Math.max(0, rows - (page.textHeight?.(state, size) ?? size.height));
};

const scrollAction = (state: State, verb: Move): StateAction => {
  const page = screenPage(state);
  const rows = page.text?.(state, computeBodySize(state).width)?.length ?? 0;
  const most = maxScroll(state);
  const { scroll, isFollowing } = topView(state.ui);
  const from = page.isTail && isFollowing ? most : scroll;
  const to = Math.max(0, verb === 'last' ? most : steps(state, verb, rows, from));
  if (!page.isTail) return looked({ scroll: Math.min(most, to) });
  return looked({ scroll: Math.min(most, to), isFollowing: to >= most });
};

export const screenActions = (key: string): StateAction[] => {
  const root = digitRoots[(Number(key) + 9) % 10];
  return root ? [{ type: 'ui.root', root }] : [];
};

const LETTERS: Readonly<Record<string, Root>> = letterRoots;

/** Records `g` as the first half of a key, and clears it after any other key. */
export const prefixActions = ({ ui }: State, key: string, now: number): StateAction[] => {
  if (isPrefix(key)) return [{ type: 'ui.begun', begun: { at: now, look: topView(ui) } }];
  return ui.begun ? [{ type: 'ui.begun', begun: null }] : [];
};

/**
 * Opens a screen by `g` and a letter, and restores the page as it was before the `g`. `null` if the
 * key is no such letter.
 */
export const letterActions = ({ ui }: State, key: string, now: number): StateAction[] | null => {
  const root = LETTERS[key];
  if (!ui.begun || now - ui.begun.at > LETTER_MS || !root) return null;
  return [looked(ui.begun.look), { type: 'ui.root', root }];
};

const tabActions = (state: State, step: 1 | -1): StateAction[] => {
  const { tabs, turns } = screenPage(state);
  if (tabs.length === 0) {
    const change = turns?.(state, step);
    return change ? [looked(change)] : [];
  }
  const shown = screenPage(state).shownTabs?.(state) ?? tabs;
  const at = Math.max(0, shown.indexOf(tabs[topView(state.ui).tab] ?? ''));
  const tab = tabs.indexOf(shown[(at + step + shown.length) % shown.length] ?? '');
  return [looked({ tab, scroll: 0, filter: '', isFollowing: true })];
};

/** Moves the focus between list and text. Only for pages that have both and no tabs. */
const paneActions = (state: State): StateAction[] => {
  const page = screenPage(state);
  const hasBoth = page.text && page.items && page.tabs.length === 0;
  return hasBoth ? [looked({ pane: topView(state.ui).pane === 0 ? 1 : 0 })] : [];
};

export const openActions = (state: State): StateAction[] => {
  const to = screenPage(state).opens?.(state);
  if (!to) return paneActions(state);
  return [goAction(to)];
};

export const goAction = (to: JumpTarget | ScreenPlace): StateAction =>
  'root' in to ? { type: 'ui.went', ...to } : { type: 'ui.opened', place: to };

/** Closes what was opened last: message, filter, zoom, pane or page. Never quits. */
export const backActions = (state: State): StateAction[] => {
  const { filter, isZoomed, pane } = topView(state.ui);
  if (state.ui.message) return [{ type: 'ui.said', message: null }];
  if (filter !== '') return [looked({ filter: '' })];
  if (isZoomed) return [looked({ isZoomed: false })];
  if (pane !== 0) return [looked({ pane: 0 })];
  return getScreenStack(state.ui).length > 1 ? [{ type: 'ui.closed' }] : [];
};

const matchActions = (state: State, step: 1 | -1): StateAction[] => {
  const page = screenPage(state);
  const { scroll } = topView(state.ui);
  const isTyped = topView(state.ui).filter !== '';
  const marks = isTyped ? undefined : page.marks?.(state, computeBodySize(state).width);
  const found = marks ?? filteredRows(state);
  const next =
    step === 1
      ? (found.find((at) => at > scroll) ?? found[0])
      : (found.findLast((at) => at < scroll) ?? found.at(-1));
  return next === undefined ? [] : [looked({ scroll: next, isFollowing: false })];
};

/** Rows of the text that contain the words of the filter. Empty without a filter. */
const filteredRows = (state: State): number[] => {
  const { filter } = topView(state.ui);
  const word = filter.toLowerCase();
  if (filter === '') return [];
  const rows = screenPage(state).text?.(state, computeBodySize(state).width) ?? [];
  return rows.flatMap((row, at) => {
    const joined = row.map(({ text }) => text).join('');
    return joined.toLowerCase().includes(word) ? [at] : [];
  });
};

const unfollowed = (state: State): StateAction =>
  screenPage(state).isTail
    ? looked({ scroll: maxScroll(state), isFollowing: false })
    : looked({ isFollowing: false, selected: null });

/** Actions of a key that only changes the view. `null` for any other key. */
export const showActions = (state: State, verb: Move): StateAction[] | null => {
  const { isZoomed, isWrapped, isRaw, isFollowing, filter } = topView(state.ui);
  switch (verb) {
    case 'tab-next':
      return tabActions(state, 1);
    case 'tab-before':
      return tabActions(state, -1);
    case 'pane-next':
    case 'pane-before':
      return paneActions(state);
    case 'back':
      return backActions(state);
    case 'filter':
      return [{ type: 'ui.field', field: openField('filter', filter) }];
    case 'palette':
      return [{ type: 'ui.field', field: openField('palette') }];
    case 'help':
      return [{ type: 'ui.help', isHelp: true, helpTop: 0 }];
    case 'return':
      return [{ type: 'ui.returned' }];
    case 'match-next':
      return matchActions(state, 1);
    case 'match-before':
      return matchActions(state, -1);
    case 'zoom':
      return [looked({ isZoomed: !isZoomed })];
    case 'wrap':
      return [looked({ isWrapped: !isWrapped })];
    case 'raw':
      return [looked({ isRaw: !isRaw, scroll: 0 })];
    case 'follow':
      return [isFollowing ? unfollowed(state) : looked({ isFollowing: true, selected: null })];
    case 'more':
      return [looked(screenPage(state).levels?.(state, 1) ?? { isMore: true })];
    case 'less':
      return [looked(screenPage(state).levels?.(state, -1) ?? { isMore: false })];
    default:
      return null;
  }
};

export const selectedLine = (state: State): string => {
  const page = screenPage(state);
  const { id, of, selected } = topView(state.ui);
  const chosen = filteredItems(page, state)[selectedIndex(filteredItems(page, state), selected)]
    ?.id;
  if (page.line) return page.line(state);
  if (page.name === 'execution') {
    const hookId = of ?? state.lists.executions.byId[id ?? '']?.hookId ?? '<hook>';
    return `adjutant hooks execution ${hookId} ${id}`;
  }
  if (page.name === 'agent') return `adjutant agents ${chosen ? 'tree' : 'tail'} ${id}`;
  if (page.name === 'hook' && chosen?.startsWith('sending_')) return `adjutant hooks replies ${id}`;
  if (page.name === 'hook')
    return chosen ? `adjutant hooks execution ${id} ${chosen}` : `adjutant hooks get ${id}`;
  if (page.name === 'logs') return 'adjutant logs --remote -f';
  if (page.name === 'tunnel') return 'adjutant tunnel get';
  const resource = page.name === 'browse' ? of : RESOURCES[page.name];
  if (!resource) return 'adjutant status';
  return chosen ? `adjutant ${resource} get ${chosen}` : `adjutant ${resource} list`;
};

const RESOURCES: Partial<Record<ScreenPlace['page'], string>> = {
  hooks: 'hooks',
  agents: 'agents',
  approvals: 'approvals',
  inbox: 'notifications',
  vault: 'vault',
  models: 'models',
};

/** Whether the selection is so near the end that more rows should be loaded. */
export const isAtBottom = (state: State): boolean => {
  const page = pages[topView(state.ui).page];
  const items = filteredItems(page, state);
  return items.length > 0 && selectedIndex(items, topView(state.ui).selected) >= items.length - 5;
};
