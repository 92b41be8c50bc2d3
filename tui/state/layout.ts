import { wrapped } from '../../cli/text.js';
import { boundedText, type Size } from '../parts/row.js';
import type { State } from './state.js';

/** Visible matches of the palette. */
export const PALETTE_ROWS = 8;
/** Visible lines of a message besides the one being typed. */
export const TEXT_ROWS = 6;
/** Rows around the body: title, tabs and rule above, message and hints below. */
const AROUND = 5;
export const MIN_SIZE: Size = { width: 60, height: 16 };

/** If the terminal is too small, one line says so. */
export const isTooSmall = ({ ui: { size } }: State): boolean =>
  size.width < MIN_SIZE.width || size.height < MIN_SIZE.height;

/** Rows that the sheet takes from the body. 0 without a sheet. */
export const sheetHeight = ({ ui }: State): number => {
  if (ui.secret) return 2 + Math.ceil(ui.secret.value.length / Math.max(1, ui.size.width - 2));
  if (ui.sheet) {
    const { lines = [], writes } = ui.sheet.act.ask ?? {};
    const typed = writes ? Math.min(TEXT_ROWS, (ui.field?.text.split('\n').length ?? 1) - 1) : 1;
    return lines.length + 1 + typed;
  }
  return ui.field?.for === 'palette' ? PALETTE_ROWS + 1 : 0;
};

/** Maximum rows of a message. */
const MESSAGE_ROWS = 4;

/** Rows of the last message. Those after the first are taken from the body. */
export const messageHeight = ({ ui: { field, message, size } }: State): number =>
  message && !field
    ? Math.min(MESSAGE_ROWS, wrapped(boundedText(message.text), size.width).length)
    : 1;

export const computeBodySize = (state: State): Size => {
  const { width, height } = state.ui.size;
  const taken = AROUND - 1 + messageHeight(state) + sheetHeight(state);
  return { width, height: Math.max(0, height - taken) };
};
