import type { ActVerb } from './keys.js';
import type { ScreenRow, Size } from './parts/row.js';
import type { Cells } from './parts/table.js';
import type { Act } from './state/act.js';
import type { JumpTarget, PageName, ScreenPlace } from './state/locations.js';
import type { ListName } from './state/rows.js';
import type { State, StateAction } from './state/state.js';
import type { ScreenView } from './state/ui.js';

export interface Item {
  id: string;
  name: string;
  /** Words that the filter searches, besides the name. */
  words: string;
  /** Facts that a filter such as `status:error` compares. */
  facts?: Readonly<Record<string, string>>;
}

export interface StreamRow {
  number: number;
  row: ScreenRow;
}

/** Pure function from the state to the rows of the body. */
export type View = (state: State, size: Size) => ScreenRow[];

/** Data that a page uses while it is shown. */
export type PageNeed =
  | {
      is: 'list';
      list: ListName;
      of?: string | null;
      /** Reload interval in milliseconds. Never reloaded if absent. */
      everyMs?: number;
      /** Minimum time that the need must last before loading, in milliseconds. */
      afterMs?: number;
    }
  | { is: 'channel'; channel: string }
  /** Events of one agent, in the stream with its id. */
  | { is: 'agent'; id: string }
  | { is: 'overview'; everyMs: number };

export type Acts = Partial<Record<ActVerb, Act>>;
export type Commands = Partial<Record<ActVerb, readonly string[]>>;

/** One page: its rows, its actions and its look. */
export interface ScreenPage {
  name: PageName;
  title: string;
  tabs: readonly string[];
  /** The tabs that this user sees. All if absent. */
  shownTabs?(state: State): readonly string[];
  /** All rows that can be selected, unfiltered, in display order. */
  items?(state: State): Item[];
  /** Scrolling text, in full. `textHeight` returns its visible rows. */
  text?(state: State, width: number): ScreenRow[] | null;
  textHeight?(state: State, size: Size): number;
  /** Whether the text follows its end. */
  isTail?: true;
  /** Place that enter opens. */
  opens?(state: State): ScreenPlace | JumpTarget | null;
  /** Place that `o` opens. */
  related?(state: State): ScreenPlace | JumpTarget | null;
  /** Actions that are possible on the selection now. */
  acts?(state: State): Acts;
  /** Further actions for the palette, which have no key. */
  verbs?(state: State): Act[];
  /** Text that `y` copies, if it is not an id. */
  copies?(state: State): string;
  /** CLI commands that keys run in the same terminal, without `adjutant`. */
  leaves?(state: State): Commands;
  /** Change when `.` shows more or `,` shows less. If absent, they show or hide ended items. */
  levels?(state: State, step: 1 | -1): Partial<ScreenView>;
  /**
   * Change when `]` goes to the next item and `[` to the previous one, on a page without tabs.
   * `null` at the end.
   */
  turns?(state: State, step: 1 | -1): Partial<ScreenView> | null;
  /** Rows of the text that contain matches, for `n` and `N`. */
  marks?(state: State, width: number): number[];
  /** Whether the daemon searches for the filter, so that the rows are its results. */
  isSearched?(state: State): boolean;
  /** Search syntax, shown below the typed text. */
  searchHint?: string;
  /** CLI command that shows the same, if it is not the usual one. */
  line?(state: State): string;
  /** List whose next rows can be loaded. */
  pages?(state: State): ListName | null;
  /** Action that follows from the visible rows: an approval was read to its end. */
  noticed?(state: State): StateAction | null;
  /** Text for the message line: `4 hooks, 1 with an error`. */
  summary?(state: State): string;
  /** Terms that the help explains. */
  glossary?: readonly (readonly [string, string])[];
  /** Data to load and channels to subscribe to while the page is shown. */
  needs(state: State): PageNeed[];
  view: View;
  /** Filtered rows, column by column, for the line-by-line desk. */
  cells?(state: State): Cells[];
  head?(state: State): ScreenRow[];
  /** Details of the selected row, if they are not the text of the page. */
  detail?(state: State, width: number): ScreenRow[] | null;
  /** Stream entries, each announced when it arrives. */
  stream?(state: State): StreamRow[];
}
