import type { ActVerb } from './keys.js';
import type { ScreenRow, Size } from './parts/row.js';
import type { Cells } from './parts/table.js';
import type { Act } from './state/act.js';
import type { JumpTarget, PageName, ScreenPlace } from './state/places.js';
import type { ListName } from './state/rows.js';
import type { State, StateAction } from './state/state.js';
import type { ScreenView } from './state/ui.js';

/** A thing that can be selected. */
export interface Item {
  id: string;
  name: string;
  /** The words that the filter searches, besides the name. */
  words: string;
  /** The facts that a filter such as `status:error` compares. */
  facts?: Readonly<Record<string, string>>;
}

/** One row of a stream, with its number, which rises. */
export interface StreamRow {
  number: number;
  row: ScreenRow;
}

/** A pure function from the state to the rows of the body. */
export type View = (state: State, size: Size) => ScreenRow[];

/** A need of a page: data that it uses while it is shown. */
export type PageNeed =
  | {
      is: 'list';
      list: ListName;
      of?: string | null;
      /** Interval in milliseconds at which the list is loaded again; never if absent. */
      everyMs?: number;
      /** Time in milliseconds for which the list must have been needed before it is loaded. */
      afterMs?: number;
    }
  | { is: 'channel'; channel: string }
  /** The events of one agent, in the stream with its id. */
  | { is: 'agent'; id: string }
  | { is: 'overview'; everyMs: number };

/** The acts that keys perform. */
export type Acts = Partial<Record<ActVerb, Act>>;
/** The commands of the CLI that keys run, as their words without `adjutant`. */
export type Commands = Partial<Record<ActVerb, readonly string[]>>;

/** One page: what it lists, what can be done on it, and how it looks. */
export interface ScreenPage {
  name: PageName;
  /** The title of the page, as help shows it. */
  title: string;
  tabs: readonly string[];
  /** Returns all rows that can be selected, unfiltered, in the order in which they are shown. */
  items?(state: State): Item[];
  /**
   * Returns a text that scrolls in an area of its own, in full. `textHeight` returns the number of
   * its rows that are visible at once.
   */
  text?(state: State, width: number): ScreenRow[] | null;
  textHeight?(state: State, size: Size): number;
  /** True if the text shows its end while it is followed. */
  isTail?: true;
  /** Returns the place that enter opens. */
  opens?(state: State): ScreenPlace | JumpTarget | null;
  /** Returns the place that `o` leads to. */
  related?(state: State): ScreenPlace | JumpTarget | null;
  /** Returns the acts that are possible on the selection now. */
  acts?(state: State): Acts;
  /** Returns further acts for the palette, which the API has and no key performs. */
  verbs?(state: State): Act[];
  /** Returns the text that `y` copies, if it is not an id. */
  copies?(state: State): string;
  /** Returns the commands of the CLI that keys run in the same terminal. */
  leaves?(state: State): Commands;
  /**
   * Returns the change when `.` shows more or `,` shows less. If absent, they show or hide what is
   * over.
   */
  levels?(state: State, step: 1 | -1): Partial<ScreenView>;
  /**
   * Returns the change when `]` goes on to what comes next, and `[` to what came before, on a page
   * without tabs; null if there is nothing.
   */
  turns?(state: State, step: 1 | -1): Partial<ScreenView> | null;
  /** Returns the rows of the text that hold what was searched for, which `n` and `N` go through. */
  marks?(state: State, width: number): number[];
  /**
   * Returns true if the daemon searches for what is typed as a filter, and the rows are what it
   * found.
   */
  isSearched?(state: State): boolean;
  /** Words that show how to search, for the line below what is typed. */
  searchHint?: string;
  /** Returns the command of the CLI that shows the same, if it is none of the usual ones. */
  line?(state: State): string;
  /** Returns the list whose rows continue below the last known one, if they can be loaded. */
  pages?(state: State): ListName | null;
  /**
   * Returns the action that follows from what is on screen now: an approval was read to its end.
   */
  noticed?(state: State): StateAction | null;
  /** Returns the summary for the message line: `4 hooks, 1 with an error`. */
  summary?(state: State): string;
  /** Words that help explains. */
  glossary?: readonly (readonly [string, string])[];
  /**
   * Returns the needs: the data that is loaded, and the channels that are subscribed to, while the
   * page is shown.
   */
  needs(state: State): PageNeed[];
  view: View;
  /** Returns the rows that the filter leaves, column by column, for the line-by-line desk. */
  cells?(state: State): Cells[];
  /** Returns the rows above the list or the text. */
  head?(state: State): ScreenRow[];
  /** Returns the details of the selected row, if they are not the text of the page. */
  detail?(state: State, width: number): ScreenRow[] | null;
  /** Returns the entries of a stream, each of which is announced when it arrives. */
  stream?(state: State): StreamRow[];
}
