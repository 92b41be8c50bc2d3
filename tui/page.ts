import type { ActVerb } from './keys.js';
import type { ScreenRow, Size } from './parts/row.js';
import type { Cells } from './parts/table.js';
import type { Act } from './state/act.js';
import type { ListName } from './state/lists.js';
import type { PageName, Root, ScreenPlace } from './state/places.js';
import type { State, StateAction } from './state/state.js';
import type { Look } from './state/ui.js';

/** Something that can be chosen. */
export interface Item {
  id: string;
  name: string;
  /** What the filter looks in, besides the name. */
  words: string;
  /** What `status:error` in the filter looks at. */
  facts?: Readonly<Record<string, string>>;
}

/** Where a jump leads: a screen, what is chosen there, and what is opened above it. */
export interface Goal {
  root: Root;
  places: ScreenPlace[];
  selected?: string;
}

/** One piece of what comes, and its number among the others, rising. */
export interface Piece {
  number: number;
  row: ScreenRow;
}

/** Rows of the body, from all that is known. Pure. */
export type View = (state: State, size: Size) => ScreenRow[];

/** Something that a page wants to know of while it is shown. */
export type PageNeed =
  | {
      is: 'list';
      list: ListName;
      of?: string | null;
      /** Again every so often; never unless given. */
      everyMs?: number;
      /** Only when it has been wanted for that long. */
      afterMs?: number;
    }
  | { is: 'channel'; channel: string }
  /** The events of one agent, into the stream of its id. */
  | { is: 'agent'; id: string }
  | { is: 'overview'; everyMs: number };

/** One page: what it lists, what can be done there, and how it looks. */
export interface ScreenPage {
  name: PageName;
  root: Root;
  /** What help calls it. */
  title: string;
  tabs: readonly string[];
  /** All rows that can be chosen, unfiltered, in the order in which they stand. */
  items?(state: State): Item[];
  /** A text with a window of its own, whole, and how many of its rows are seen at once. */
  text?(state: State, width: number): ScreenRow[] | null;
  textHeight?(state: State, size: Size): number;
  /** The text is at its end while it is followed. */
  isTail?: true;
  /** What enter opens. */
  opens?(state: State): ScreenPlace | Goal | null;
  /** What `o` leads to. */
  related?(state: State): Goal | null;
  /** What can be done to the selection now. */
  acts?(state: State): Partial<Record<ActVerb, Act>>;
  /** What the palette offers besides, where the API has it and no key does. */
  verbs?(state: State): Act[];
  /** What `y` copies, where it is no id. */
  copies?(state: State): string;
  /** Keys that leave for the CLI in the same terminal, and its words without `adjutant`. */
  leaves?(state: State): Partial<Record<ActVerb, readonly string[]>>;
  /** What `.` shows more of, and `,` less, where it is not what is over and done with. */
  levels?(state: State, step: 1 | -1): Partial<Look>;
  /** The list whose rows go on below the last one, where they can be read. */
  pages?(state: State): ListName | null;
  /** What follows from what is on screen now: a call is read to its end. */
  noticed?(state: State): StateAction | null;
  /** What is told at the end of the message line: `4 hooks, 1 with an error`. */
  summary?(state: State): string;
  /** Explained in help. */
  glossary?: readonly (readonly [string, string])[];
  /** What is read, and heard, while the page is shown. */
  needs(state: State): PageNeed[];
  view: View;
  /** For the desk line by line: the rows that the filter leaves, column by column. */
  cells?(state: State): Cells[];
  /** What stands above the rows or the text. */
  head?(state: State): ScreenRow[];
  /** All about the chosen row, where that is not the text of the page. */
  detail?(state: State, width: number): ScreenRow[] | null;
  /** What comes, to be told as it comes. */
  stream?(state: State): Piece[];
}
