import type { Size } from '../parts/row.js';
import type { Act, ShownSecret } from './act.js';
import type { JumpTarget, Root, ScreenPlace } from './locations.js';
import type { LogLevel } from './rows.js';

export interface ScreenView extends ScreenPlace {
  tab: number;
  /** Focused pane: 0 for the list, 1 for the text. */
  pane: number;
  /** `null` for the first row. Not an index, because rows may move. */
  selected: string | null;
  filter: string;
  /** Rows of the text above the visible part. */
  scroll: number;
  isZoomed: boolean;
  isWrapped: boolean;
  isFollowing: boolean;
  isRaw: boolean;
  /** Whether ended items are listed too. */
  isMore: boolean;
  /** Lowest listed log level. */
  leastLevel: LogLevel;
}

export interface FormField {
  for: 'filter' | 'palette' | 'name' | 'text' | 'username' | 'password' | 'code';
  text: string;
  at: number;
  /** Index of the selected palette match. */
  chosen: number;
  /** Whether a key within a burst opened it: `:q` and enter in one piece. */
  isHurried?: boolean;
}

export const isLoginField = ({ for: use }: FormField): boolean =>
  use === 'username' || use === 'password' || use === 'code';

export interface Message {
  text: string;
  tone: 'info' | 'warn' | 'danger' | 'ok';
}

export interface UiState {
  size: Size;
  root: Root;
  /** Open pages of each screen, lowest first. */
  stacks: Readonly<Partial<Record<Root, readonly ScreenView[]>>>;
  history: readonly VisitedScreen[];
  field: FormField | null;
  sheet: { act: Act; openedAt: number } | null;
  /** Shown until the user confirms it, and never again. */
  secret: ShownSecret | null;
  /** Kept while the authenticator code is requested. */
  password: string | null;
  isHelp: boolean;
  /** First visible row of the help. */
  helpTop: number;
  /** The last `g`, which may be the first half of a key. */
  begun: { at: number; look: ScreenView } | null;
  message: Message | null;
  /** Unsent texts, by the id of their row. */
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
  | ({ type: 'ui.went' } & JumpTarget)
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

export const messageAction = (text: string, tone: Message['tone'] = 'info'): UiAction => ({
  type: 'ui.said',
  message: { text, tone },
});

const MAX_HISTORY = 50;
/** Time after `g` in which a letter opens a screen, in milliseconds. */
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

/** Pages of the shown screen, lowest first. */
export const getScreenStack = ({ stacks, root }: UiState): readonly ScreenView[] =>
  stacks[root] ?? [lookAt({ page: root, id: null })];

export const topView = (state: UiState): ScreenView =>
  getScreenStack(state).at(-1) ?? lookAt({ page: state.root, id: null });

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
      return stacked(state, [...getScreenStack(state), lookAt(action.place)]);
    case 'ui.closed':
      return stacked(state, getScreenStack(state).slice(0, -1));
    case 'ui.went':
      return went(state, action);
    case 'ui.returned':
      return returned(state);
    case 'ui.looked':
      return stacked(state, [
        ...getScreenStack(state).slice(0, -1),
        { ...topView(state), ...action.change },
      ]);
    case 'ui.sheet':
      return { ...state, sheet: action.sheet, field: null };
    case 'ui.draft':
      return { ...state, drafts: { ...state.drafts, [action.of]: action.text } };
  }
};

/** Goes to a screen in the state in which the user left it. */
const moved = (state: UiState, root: Root, stack: readonly ScreenView[]): UiState => {
  const to = { ...state, root, message: null, isHelp: false, field: null, sheet: null };
  return stack.length > 0 ? stacked(to, stack) : to;
};

const stacked = (state: UiState, stack: readonly ScreenView[]): UiState =>
  stack.length === 0 ? state : { ...state, stacks: { ...state.stacks, [state.root]: stack } };

const went = (state: UiState, { root, places, selected, tab }: JumpTarget): UiState => {
  const visited = { root: state.root, stack: getScreenStack(state) };
  const history = [...state.history, visited].slice(-MAX_HISTORY);
  const base = state.stacks[root]?.[0] ?? lookAt({ page: root, id: null });
  const isChosen = selected !== undefined || tab !== undefined;
  const chosen = isChosen
    ? { ...base, selected: selected ?? null, tab: tab ?? base.tab, filter: '' }
    : base;
  return { ...moved(state, root, [chosen, ...places.map(lookAt)]), history };
};

const returned = (state: UiState): UiState => {
  const before = state.history.at(-1);
  if (!before) return state;
  return { ...moved(state, before.root, before.stack), history: state.history.slice(0, -1) };
};
