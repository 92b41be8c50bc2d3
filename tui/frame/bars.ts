import { cutToWidth } from '../../cli/text.js';
import { computeTextWidth } from '../../src/kernel/width.js';
import { pageActKeys } from '../keys.js';
import {
  boundedText,
  justify,
  row,
  type ScreenRow,
  type Size,
  type Span,
  tonedSpan,
} from '../parts/row.js';
import { textRows } from '../parts/text.js';
import { timeOfEvent } from '../parts/times.js';
import { countPendingApprovals } from '../screens/approvals.js';
import { pages, screenPage } from '../screens.js';
import { digitRoots, letterRoots } from '../state/locations.js';
import { filteredItems, summarySuffix } from '../state/selection.js';
import { getLoginName } from '../state/session.js';
import type { State } from '../state/state.js';
import { type FormField, getScreenStack, isLoginField, LETTER_MS, topView } from '../state/ui.js';
import { offlineReason } from '../state/verbs.js';
import { helpOverflow } from './help.js';

/** If the row is too narrow, the left part is cut, but never the approvals and the clock. */
export const titleView = (state: State, { width }: Size): ScreenRow[] => {
  const { version, who, url, now } = state.session;
  const waiting = countPendingApprovals(state);
  const where = url.replace(/^https?:\/\//, '');
  const name = who ? `${who.username}@${where}` : where;
  const count = waiting > 0 ? `${waiting} APPROVAL${waiting > 1 ? 'S' : ''}` : '';
  return [
    justify(
      row(tonedSpan('strong', `Adjutant ${version}`), `   ${name}   `, renderLinkState(state)),
      row(tonedSpan('warn', count), `  ${timeOfEvent(now, now)}`),
      width,
    ),
  ];
};

const renderLinkState = ({ session: { link, now } }: State): Span => {
  if (link.is === 'live') return tonedSpan('ok', 'live');
  if (link.is === 'connecting') return tonedSpan('muted', 'connecting');
  if (link.is === 'refused') return tonedSpan('danger', 'REFUSED');
  const seconds = Math.max(0, Math.ceil((link.nextAt - now) / 1000));
  return tonedSpan(
    'danger',
    `LOST ${timeOfEvent(link.since, now)}, try ${link.attempt} in ${seconds} s`,
  );
};

/** Brackets mark the current screen, so that it is recognizable without colour. */
export const tabsView = ({ ui: { root } }: State, { width }: Size): ScreenRow[] => {
  const named = (most: number): string[] =>
    digitRoots.map((each, at) => `${(at + 1) % 10}${pages[each].title.slice(0, most)}`);
  const full = named(99);
  const isOther = !digitRoots.some((each) => each === root);
  const current = isOther ? `[${pages[root].title}] ` : '';
  const fits = full.reduce((sum, name) => sum + name.length + 1, 1) + current.length <= width;
  const names = fits ? full : named(4);
  return [
    row(
      tonedSpan('strong', current),
      ...names.flatMap((name, at): (string | Span)[] => [
        digitRoots[at] === root ? tonedSpan('strong', `[${full[at]}]`) : name,
        at < names.length - 1 ? ' ' : '',
      ]),
    ),
  ];
};

export const ruleView = (_: State, { width }: Size): ScreenRow[] => [
  row(tonedSpan('muted', '─'.repeat(width))),
];

/** Shows the open field, else the last message, else the summary of the page. */
export const messageView = (state: State, { width }: Size): ScreenRow[] => {
  const { field, message } = state.ui;
  const page = screenPage(state);
  if (field) {
    const typed = row(getFieldPrompt(state, field), fieldText(field, width).text);
    return [justify(typed, countRow(state), width)];
  }
  if (message) return textRows(message.text, width, true, message.tone);
  const { link } = state.session;
  if (link.is === 'lost') {
    const warning = `The daemon does not answer: ${link.reason}. On this machine: adjutant up`;
    return [row(tonedSpan('danger', warning))];
  }
  if (link.is === 'refused')
    return [row(tonedSpan('danger', `${link.reason}. ${loginHint(state)}`))];
  const { filter } = topView(state.ui);
  if (filter !== '' && page.isSearched?.(state))
    return [justify(row(tonedSpan('info', `/${filter}`)), summaryRow(state), width)];
  if (filter !== '') return [justify(row(tonedSpan('info', `/${filter}`)), countRow(state), width)];
  return [summaryRow(state)];
};

const summaryRow = (state: State): ScreenRow => {
  const page = screenPage(state);
  return row(tonedSpan('muted', `${page.summary?.(state) ?? ''}${summarySuffix(page, state)}`));
};

const loginHint = ({ session }: State): string => {
  const { link } = session;
  if (link.is !== 'refused' || !link.isEnded) return 'Run: adjutant login';
  return getLoginName(session) === null
    ? 'enter logs in'
    : 'Your drafts are kept: enter logs in again';
};

const PROMPTS = {
  username: 'Name: ',
  filter: '/',
  palette: ':',
  name: '> ',
  text: '> ',
  code: 'Authenticator code: ',
};

const getFieldPrompt = ({ session }: State, { for: use }: FormField): string =>
  use === 'password' ? `Password for ${getLoginName(session) ?? ''}: ` : PROMPTS[use];

const maskPassword = (field: FormField): FormField =>
  field.for === 'password' ? { ...field, text: '·'.repeat(field.text.length) } : field;

/** Visible end of the typed text, and the column of the cursor. */
const fieldText = (original: FormField, width: number) => {
  const field = maskPassword(original);
  const room = Math.max(10, Math.floor(width * 0.7));
  const line = field.text.lastIndexOf('\n', field.at - 1) + 1;
  const before = boundedText(field.text.slice(line, field.at));
  const [rest = ''] = field.text.slice(field.at).split('\n');
  const hidden = Math.max(0, before.length - room);
  const text = cutToWidth(before.slice(hidden) + boundedText(rest), room + 8);
  return { text, at: computeTextWidth(before.slice(hidden)) };
};

export const computeCursorPosition = (state: State): { top: number; left: number } | null => {
  const { field, size } = state.ui;
  if (!field) return null;
  const left = getFieldPrompt(state, field).length + fieldText(field, size.width).at;
  return { top: size.height - 2, left: Math.min(left, size.width - 1) };
};

const countRow = (state: State): ScreenRow => {
  const { field } = state.ui;
  if (field && field.for !== 'filter') return [];
  const page = screenPage(state);
  if (page.isSearched?.(state)) return summaryRow(state);
  const all = page.items?.(state).length ?? 0;
  return row(
    tonedSpan(
      'muted',
      all > 0
        ? `${filteredItems(page, state).length} of ${all} loaded${summarySuffix(page, state)}`
        : '',
    ),
  );
};

export const hintsView = (state: State, { width }: Size): ScreenRow[] => {
  const { sheet, secret, field, isHelp, message } = state.ui;
  if (secret)
    return [row(tonedSpan('strong', 'y'), ' copy   ', tonedSpan('strong', 'enter'), ' I saved it')];
  if (isHelp) return [row(`esc close${helpOverflow(state) > 0 ? '   j k scroll' : ''}`)];
  if (sheet && !field) return [row(tonedSpan('strong', 'y'), ' confirm   enter, n, esc: cancel')];
  if (field?.for === 'name') return [row('enter: confirm, if the name matches   esc: cancel')];
  if (field && isLoginField(field)) {
    return [row('enter log in   esc continue read-only')];
  }
  // The message line shows the typed text, so the message is shown here.
  if (field?.for === 'text' && message) return [row(tonedSpan(message.tone, message.text))];
  if (field?.for === 'text')
    return [
      row(
        `enter ${sheet?.act.ask?.enter ?? 'send'}   ctrl-j new line   ctrl-x editor   esc keep draft`,
      ),
    ];
  if (field?.for === 'palette') return [row('enter select   down, up choose   esc close')];
  const { isSearched, searchHint = '"a phrase", -word' } = screenPage(state);
  if (field && isSearched?.(state)) return [row(`enter apply   esc clear   ${searchHint}`)];
  if (field) return [row('enter apply   esc clear   status:error, !word')];
  if (isLetterNext(state)) return [row(...letterHints())];
  const help = row(tonedSpan('strong', '?'), ' help');
  return [justify(row(...fittingHints(state, width - 8)), help, width)];
};

/** True for a moment after `g`, while a letter opens a screen. */
const isLetterNext = ({ ui: { begun }, session: { now } }: State): boolean =>
  begun !== null && now - begun.at <= LETTER_MS;

const letterHints = (): (string | Span)[] =>
  Object.entries(letterRoots).flatMap(([letter, root]) => [
    tonedSpan('strong', `g ${letter}`),
    ` ${pages[root].title}   `,
  ]);

const fittingHints = (state: State, width: number): (string | Span)[] => {
  let used = 0;
  return pageHints(state).flatMap(({ key, text }) => {
    used += key.length + text.length + 3;
    return used <= width + 2 ? [tonedSpan('strong', key), ` ${text}  `] : [];
  });
};

const pageHints = (state: State): { key: string; text: string }[] => {
  const page = screenPage(state);
  const isOffline = offlineReason(state) !== null;
  const acts = isOffline ? {} : (page.acts?.(state) ?? {});
  const leaves = isOffline ? {} : (page.leaves?.(state) ?? {});
  const { is } = state.session.link;
  const enters = { lost: 'try now', refused: 'log in', live: 'open', connecting: 'open' };
  return [
    ...(page.opens?.(state) || is !== 'live' ? [{ key: 'enter', text: enters[is] }] : []),
    ...pageActKeys(page.name)
      .filter(({ verb }) => verb in acts || verb in leaves)
      .map(({ verb, key, hint }) => ({ key, text: acts[verb]?.hint ?? hint })),
    ...(page.related?.(state) ? [{ key: 'o', text: 'related' }] : []),
    ...(page.tabs.length > 0 ? [{ key: '[ ]', text: 'tabs' }] : []),
    ...(page.turns?.(state, -1) ? [{ key: '[', text: 'previous' }] : []),
    ...(page.turns?.(state, 1) ? [{ key: ']', text: 'next' }] : []),
    ...(page.marks?.(state, state.ui.size.width).length ? [{ key: 'n N', text: 'matches' }] : []),
    ...(page.levels
      ? [
          { key: 'f', text: 'follow' },
          { key: ', .', text: 'less, more' },
        ]
      : []),
    ...(page.items || page.levels
      ? [{ key: '/', text: page.isSearched?.(state) ? 'search' : 'filter' }]
      : []),
    ...(getScreenStack(state.ui).length > 1
      ? [{ key: 'esc', text: 'back' }]
      : [{ key: ':', text: 'command' }]),
  ];
};
