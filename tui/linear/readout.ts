import { pageActKeys } from '../keys.js';
import type { ScreenPage } from '../page.js';
import type { ScreenRow } from '../parts/row.js';
import type { Cells } from '../parts/table.js';
import { countedNoun } from '../parts/text.js';
import { timeOfEvent } from '../parts/times.js';
import { countPendingApprovals, waitingStagesText } from '../screens/approvals.js';
import { pages, screenPage } from '../screens.js';
import { computeBodySize } from '../state/layout.js';
import { roots } from '../state/locations.js';
import { continuedList } from '../state/selection.js';
import type { State } from '../state/state.js';
import { topView } from '../state/ui.js';
import type { Linear } from './linear.js';
import { cellLines, exactLines, headLines, rowLine, spokenText, textLines, WIDE } from './words.js';

/** Rows, or lines of a text, announced at once. */
const PAGE = 20;

/** Part of a summary that names keys. Left out, because help lists the commands. */
const KEYS = / +\([^()]*\)$/;

export const announceMenu = ({ output, announcement }: Linear): void => {
  announcement.clear();
  announcement.isMenu = true;
  output.line(roots.map((root, at) => `${at + 1} ${pages[root].title.toLowerCase()}`).join(', '));
  output.line('Type a number or a name to open a screen, help for the commands, quit to leave.');
};

/** Announces the page on top from its beginning, once it is loaded. */
export const announcePage = async (desk: Linear): Promise<void> => {
  const { known, needs, announcement, output } = desk;
  await needs.fresh();
  const state = known.store.get();
  const page = screenPage(state);
  announcement.clear();
  announcement.isMenu = false;
  const [name, ...head] = headLines(page.head?.(state) ?? []);
  output.line(formatPageTitle(state, page, name));
  const stale = staleLine(state);
  if (stale !== null) output.line(stale);
  output.lines(head);
  const tabs = page.shownTabs?.(state) ?? page.tabs;
  if (tabs.length > 0)
    output.line(`Tabs: ${tabs.join(', ').toLowerCase()}. Type a name to switch.`);
  const from = page.isTail ? countPageRows(state, page) - PAGE : 0;
  announceFrom(desk, from);
  announceVerbs(desk);
};

/** Title of a page: `Hooks: 4 hooks, 1 with an error`. The page of one object gives its name. */
const formatPageTitle = (state: State, page: ScreenPage, name: string | undefined): string => {
  const { filter, of } = topView(state.ui);
  const summary =
    page.stream || page.name === 'browse' ? '' : (page.summary?.(state) ?? '').replace(KEYS, '');
  const title = page.name === 'browse' ? `Browse ${of}` : page.title;
  const about = spokenText(name ?? summary);
  const found = filter === '' ? '' : ` Filter: ${filter}. Type find to show all rows.`;
  const end = /[.?!]$/.test(about) ? '' : '.';
  return `${about === '' ? title : `${title}: ${about}`}${end}${found}`;
};

/** Warning that the data may be out of date, or `null`. */
const staleLine = ({ session: { link, now } }: State): string | null => {
  if (link.is === 'refused') return 'You are not logged in. The data may be out of date.';
  if (link.is !== 'lost') return null;
  return `The connection is lost. The data is from ${timeOfEvent(link.since, now)}.`;
};

/** Announces the rows below the last announced ones. */
export const announceNext = async (desk: Linear): Promise<void> => {
  const { known, announcement, output, needs } = desk;
  const state = known.store.get();
  const list = continuedList(screenPage(state), state);
  if (announcement.to >= countPageRows(state, screenPage(state)) && list) {
    await known.feed.more(list);
    await needs.settled();
  }
  if (announcement.to < countPageRows(known.store.get(), screenPage(state)))
    announceFrom(desk, announcement.to);
  else output.line('End of page.');
};

export const announcePrevious = (desk: Linear): void => {
  if (desk.announcement.from > 0) announceFrom(desk, desk.announcement.from - PAGE);
  else desk.output.line('Beginning of page.');
};

/** Announces one page of rows or lines, and the total. */
const announceFrom = (desk: Linear, wanted: number): void => {
  const { known, announcement, output } = desk;
  const state = known.store.get();
  const page = screenPage(state);
  const length = countPageRows(state, page);
  announcement.from = Math.max(0, wanted);
  announcement.to = Math.min(length, announcement.from + PAGE);
  const cells = cellsIn(state, page);
  if (cells.length > 0) announceRows(desk, cells);
  else if (length > 0) output.lines(textOn(state, page).slice(announcement.from, announcement.to));
  else output.lines(headLines(renderBodyText(state, page)));
  const more = continuedList(page, state) !== null;
  const end = more && cells.length > 0 ? `${length} or more` : `${length}`;
  if (announcement.from > 0 || announcement.to < length || (more && cells.length > 0)) {
    output.line(
      `${announcement.from + 1} to ${announcement.to} of ${end}. Type next or before for more.`,
    );
  }
};

const announceRows = ({ announcement, output, known }: Linear, cells: readonly Cells[]): void => {
  const { name } = screenPage(known.store.get());
  for (const [at, row] of cells.slice(announcement.from, announcement.to).entries()) {
    output.line(rowLine(announcement.numberOf(name, row.id, announcement.from + at), row));
  }
};

const cellsIn = (state: State, page: ScreenPage): Cells[] => page.cells?.(state) ?? [];
const textOn = (state: State, page: ScreenPage): string[] =>
  page.items?.(state).length ? [] : textLines(page.text?.(state, WIDE) ?? []);
const countPageRows = (state: State, page: ScreenPage): number =>
  cellsIn(state, page).length || textOn(state, page).length;

/** Text in place of rows. The head is left out, because it was announced before. */
const renderBodyText = (state: State, page: ScreenPage): ScreenRow[] => {
  const rows = page.view(state, computeBodySize(state));
  const hasHead = page.head !== undefined || page.tabs.length > 0;
  return rows.slice(hasHead ? rows.findIndex((row) => row.length === 0) + 1 : 0);
};

export const announceSelection = (desk: Linear, id: string): void => {
  const { known, output } = desk;
  const state = known.store.get();
  const page = screenPage(state);
  const row = cellsIn(state, page).find((each) => each.id === id);
  if (page.name === 'approvals' || page.name === 'run') output.lines(wholeText(state));
  else {
    if (row) output.lines(cellLines(row));
    output.lines(textLines((page.detail ?? page.text)?.(state, WIDE) ?? []));
  }
  announceVerbs(desk);
};

/** Text of the page, with nothing left out or changed. */
export const wholeText = (state: State): string[] =>
  exactLines(screenPage(state).text?.(state, WIDE) ?? []);

const announceVerbs = ({ known, output }: Linear): void => {
  const state = known.store.get();
  const page = screenPage(state);
  const { selected } = topView(state.ui);
  const isOpen = cellsIn(state, page).length === 0 || selected !== null;
  const isOne = isOpen || page.tabs.length > 0;
  const verbs = isOne ? possibleVerbs(state, page) : pageActKeys(page.name).map(({ text }) => text);
  const numbered = isOpen ? '' : ' Type a number to open a row.';
  if (verbs.length > 0) output.line(`Verbs: ${verbs.join(', ')}.${numbered}`);
  else if (numbered) output.line(numbered.trim());
};

const possibleVerbs = (state: State, page: ScreenPage): string[] => {
  const acts = page.acts?.(state) ?? {};
  const leaves = page.leaves?.(state) ?? {};
  return [
    ...pageActKeys(page.name)
      .filter(({ verb }) => verb in acts || verb in leaves)
      .map(({ verb, hint }) => acts[verb]?.hint ?? hint),
    ...(page.verbs?.(state) ?? []).map(({ text }) => text.split(' ')[0] ?? ''),
    ...(page.opens?.(state) ? ['open'] : []),
    ...(page.related?.(state) ? ['related'] : []),
    ...(page.stream ? ['follow'] : []),
    ...(page.turns?.(state, 1) ? ['] (next)'] : []),
    ...(page.turns?.(state, -1) ? ['[ (previous)'] : []),
  ];
};

/** Announces the user, the address, the connection and the pending approvals. */
export const announcePosition = ({ known, output }: Linear): void => {
  const state = known.store.get();
  const { version, who, url, link } = state.session;
  const name = who ? `You are ${who.username}, ${who.role}, at` : 'At';
  const where = url.replace(/^https?:\/\//, '');
  output.line(`Adjutant${version && ` ${version}`}. ${name} ${where}: ${WORDS[link.is]}.`);
  if (link.is === 'lost') {
    output.line(`${link.reason}. Retrying. On this machine: adjutant up`);
  }
  if (state.lists.approvals.loadedAt !== null)
    output.line(waitingLine(countPendingApprovals(state)));
  const stages = waitingStagesText(state);
  if (stages !== null) output.line(`${stages}. Type pipelines.`);
};

const WORDS = { live: 'live', connecting: 'connecting', lost: 'lost', refused: 'refused' };

const waitingLine = (count: number): string => {
  if (count === 0) return 'No pending approvals.';
  return `${countedNoun(count, 'pending approval')}. Type approvals.`;
};
