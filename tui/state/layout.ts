import { wrapped } from '../../cli/text.js';
import { boundedText, type Size } from '../parts/row.js';
import type { State } from './state.js';

/** Matches of the palette that are visible at once. */
export const PALETTE_ROWS = 8;
/** Lines of a message that are visible besides the one that is being typed. */
export const TEXT_ROWS = 6;
/** Rows around the body: title, tabs and rule above it, message and hints below it. */
const AROUND = 5;
export const MIN_SIZE: Size = { width: 60, height: 16 };

/** True if the terminal is too small for any screen, which one line then says. */
export const isTooSmall = ({ ui: { size } }: State): boolean =>
  size.width < MIN_SIZE.width || size.height < MIN_SIZE.height;

/** Returns the number of rows that the sheet takes from the body; 0 without a sheet. */
export const sheetHeight = ({ ui }: State): number => {
  if (ui.secret) return 2 + Math.ceil(ui.secret.value.length / Math.max(1, ui.size.width - 2));
  if (ui.sheet) {
    const { lines = [], writes } = ui.sheet.act.ask ?? {};
    const typed = writes ? Math.min(TEXT_ROWS, (ui.field?.text.split('\n').length ?? 1) - 1) : 1;
    return lines.length + 1 + typed;
  }
  return ui.field?.for === 'palette' ? PALETTE_ROWS + 1 : 0;
};

/** Most rows of a message. */
const MESSAGE_ROWS = 4;

/** Returns the number of rows of the last message, which takes those after the first from the body. */
export const messageHeight = ({ ui: { field, message, size } }: State): number =>
  message && !field
    ? Math.min(MESSAGE_ROWS, wrapped(boundedText(message.text), size.width).length)
    : 1;

/** Returns the size that is left for the page. */
export const bodyOf = (state: State): Size => {
  const { width, height } = state.ui.size;
  const taken = AROUND - 1 + messageHeight(state) + sheetHeight(state);
  return { width, height: Math.max(0, height - taken) };
};
