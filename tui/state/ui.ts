import type { Size } from '../parts/row.js';
import type { Act, ShownSecret } from './act.js';
import type { Root, ScreenPlace } from './places.js';
import type { LogLevel } from './rows.js';

/** A place, with the settings of its view. */
export interface ScreenView extends ScreenPlace {
  tab: number;
  /** The pane with the focus: 0 for the list, 1 for the text beside or below it. */
  pane: number;
  /** Id of the selected row; null for the first. Not an index, because rows may move. */
  selected: string | null;
  filter: string;
  /** Rows of the text above the visible part. */
  scroll: number;
  isZoomed: boolean;
  isWrapped: boolean;
  isFollowing: boolean;
  isRaw: boolean;
  /** True if more is listed: also what is over. */
  isMore: boolean;
  /** The lowest level of the log lines that are listed. */
  leastLevel: LogLevel;
}

/** A field in which the user types a line. */
export interface FormField {
  for: 'filter' | 'palette' | 'name' | 'text' | 'username' | 'password' | 'code';
  text: string;
  /** Position of the cursor, in UTF-16 units. */
  at: number;
  /** Index of the selected match in the palette. */
  chosen: number;
  /** True if it was opened by a key that came in a burst: `:q` and enter in one piece. */
  isHurried?: boolean;
}

/** True if the field is part of a login. */
export const isLoginField = ({ for: use }: FormField): boolean =>
  use === 'username' || use === 'password' || use === 'code';

export interface Message {
  text: string;
  tone: 'info' | 'warn' | 'danger' | 'ok';
}

export interface UiState {
  size: Size;
  root: Root;
  /** The open pages of each screen, the lowest first. */
  stacks: Readonly<Partial<Record<Root, readonly ScreenView[]>>>;
  /** Places from which the user jumped, the newest last. */
  history: readonly VisitedScreen[];
  field: FormField | null;
  sheet: { act: Act; openedAt: number } | null;
  /** The secret, which is shown until the user has it, and never again. */
  secret: ShownSecret | null;
  /** The password, kept while the code that the login needs too is asked for. */
  password: string | null;
  isHelp: boolean;
  /** The first row of the help that is visible. */
  helpTop: number;
  /** The `g` that was pressed last, which may be the first half of a key. */
  begun: { at: number; look: ScreenView } | null;
  message: Message | null;
  /** Texts that were typed and not sent, by the id of the row they were for. */
  drafts: Readonly<Record<string, string>>;
}
interface VisitedScreen {
  root: Root;
  stack: readonly ScreenView[];
}

export type UiAction =
  | { type: 'ui.sized'; size: Size }
  | { type: 'ui.root'; root: Root }
  | { type: 'ui.opened'; place: ScreenPlace }
  | { type: 'ui.closed' }
  /** A jump to another place, which is added to the history. */
  | { type: 'ui.went'; root: Root; places: ScreenPlace[]; selected?: string }
  | { type: 'ui.returned' }
  | { type: 'ui.looked'; change: Partial<ScreenView> }
  | { type: 'ui.field'; field: FormField | null }
  | { type: 'ui.sheet'; sheet: UiState['sheet'] }
  | { type: 'ui.secret'; secret: ShownSecret | null }
  | { type: 'ui.password'; password: string | null }
  | { type: 'ui.draft'; of: string; text: string }
  | { type: 'ui.help'; isHelp: boolean; helpTop: number }
  | { type: 'ui.begun'; begun: UiState['begun'] }
  | { type: 'ui.said'; message: Message | null };

/** Returns the action that shows a message. */
export const messageAction = (text: string, tone: Message['tone'] = 'info'): UiAction => ({
  type: 'ui.said',
  message: { text, tone },
});

const MAX_HISTORY = 50;
/** Ours: time after `g` in which a letter opens a screen, in milliseconds. */
export const LETTER_MS = 1500;

export const ui = (size: Size): UiState => ({
  size,
  root: 'overview',
  stacks: {},
  history: [],
  field: null,
  sheet: null,
  secret: null,
  password: null,
  isHelp: false,
  helpTop: 0,
  begun: null,
  message: null,
  drafts: {},
});

const lookAt = (place: ScreenPlace): ScreenView => ({
  selected: null,
  ...place,
  tab: 0,
  pane: 0,
  filter: '',
  scroll: 0,
  isZoomed: false,
  isWrapped: true,
  isFollowing: true,
  isRaw: false,
  isMore: false,
  leastLevel: 'info',
});

/** Returns the pages of the shown screen, the lowest first. */
export const stackOf = ({ stacks, root }: UiState): readonly ScreenView[] =>
  stacks[root] ?? [lookAt({ page: root, id: null })];

/** Returns the page on top. */
export const topView = (state: UiState): ScreenView =>
  stackOf(state).at(-1) ?? lookAt({ page: state.root, id: null });

export const reduceUi = (state: UiState, action: UiAction): UiState => {
  switch (action.type) {
    case 'ui.sized':
    case 'ui.field':
    case 'ui.secret':
    case 'ui.password':
    case 'ui.help':
    case 'ui.begun':
    case 'ui.said': {
      const { type: _, ...change } = action;
      return { ...state, ...change };
    }
    case 'ui.root':
      return moved(state, action.root, state.stacks[action.root] ?? []);
    case 'ui.opened':
      return stacked(state, [...stackOf(state), lookAt(action.place)]);
    case 'ui.closed':
      return stacked(state, stackOf(state).slice(0, -1));
    case 'ui.went':
      return went(state, action);
    case 'ui.returned':
      return returned(state);
    case 'ui.looked':
      return stacked(state, [
        ...stackOf(state).slice(0, -1),
        { ...topView(state), ...action.change },
      ]);
    case 'ui.sheet':
      return { ...state, sheet: action.sheet, field: null };
    case 'ui.draft':
      return { ...state, drafts: { ...state.drafts, [action.of]: action.text } };
  }
};

/** Goes to a screen, which is as the user left it. */
const moved = (state: UiState, root: Root, stack: readonly ScreenView[]): UiState => {
  const to = { ...state, root, message: null, isHelp: false, field: null, sheet: null };
  return stack.length > 0 ? stacked(to, stack) : to;
};

const stacked = (state: UiState, stack: readonly ScreenView[]): UiState =>
  stack.length === 0 ? state : { ...state, stacks: { ...state.stacks, [state.root]: stack } };

const went = (
  state: UiState,
  { root, places, selected }: { root: Root; places: ScreenPlace[]; selected?: string },
): UiState => {
  const visited = { root: state.root, stack: stackOf(state) };
  const history = [...state.history, visited].slice(-MAX_HISTORY);
  const base = state.stacks[root]?.[0] ?? lookAt({ page: root, id: null });
  const chosen = selected === undefined ? base : { ...base, selected, filter: '' };
  return { ...moved(state, root, [chosen, ...places.map(lookAt)]), history };
};

const returned = (state: UiState): UiState => {
  const before = state.history.at(-1);
  if (!before) return state;
  return { ...moved(state, before.root, before.stack), history: state.history.slice(0, -1) };
};
