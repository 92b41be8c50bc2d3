import { goAction } from '../control/moves.js';
import type { ActVerb } from '../keys.js';
import type { Item, ScreenPage } from '../page.js';
import { screenPage } from '../screens.js';
import type { Act } from '../state/act.js';
import type { JumpTarget, ScreenPlace } from '../state/locations.js';
import { filteredItems } from '../state/selection.js';
import type { State } from '../state/state.js';
import { topView } from '../state/ui.js';
import { offlineReason } from '../state/verbs.js';
import type { Linear } from './linear.js';
import { beginQuestions, leaveFor } from './questions.js';
import { announcePage, announceSelection, wholeText } from './readout.js';

/** Selects a row by number or name, and opens the page below it or announces the row in full. */
export const chooseLine = async (desk: Linear, named: string): Promise<void> => {
  const item = find(desk, named);
  if (!item) return;
  select(desk, item);
  const state = desk.known.store.get();
  const page = screenPage(state);
  const below = page.text || page.detail ? null : page.opens?.(state);
  if (below) await goTo(desk, below);
  else announceRow(desk, item);
};

export const goTo = async (desk: Linear, to: JumpTarget | ScreenPlace | null): Promise<void> => {
  const { known, output } = desk;
  if (!to) return output.line('There is nothing to open.');
  known.store.dispatch(goAction(to));
  await announcePage(desk);
  if (!('root' in to) || to.places.length > 0 || to.selected === undefined) return;
  const state = known.store.get();
  const item = filteredItems(screenPage(state), state).find(({ id }) => id === to.selected);
  if (item) announceRow(desk, item);
  else output.line('The object no longer exists.');
};

/** Announces it if there is no such row, and returns null. */
const find = ({ known, announcement, output }: Linear, named: string): Item | null => {
  const state = known.store.get();
  const items = filteredItems(screenPage(state), state);
  const isNumber = /^\d+$/.test(named);
  const id = isNumber ? announcement.idOf(Number(named)) : undefined;
  const found = isNumber ? items.filter((each) => each.id === id) : namedIn(items, named);
  const [item] = found;
  if (item && found.length === 1) return item;
  const name = named.slice(0, 60);
  if (id !== undefined)
    output.line(`Row ${name} no longer exists. Type list to read the page again.`);
  else if (item) output.line(`${found.length} rows match ${name}. Type a number.`);
  else output.line(`No row has the ${isNumber ? 'number' : 'name'} ${name}.`);
  return null;
};

/** Rows with that name, else rows whose name begins with it. */
const namedIn = (items: readonly Item[], named: string): Item[] => {
  const typed = named.toLowerCase();
  const exact = items.filter(({ name }) => name.toLowerCase() === typed);
  return exact.length > 0
    ? exact
    : items.filter(({ name }) => name.toLowerCase().startsWith(typed));
};

const select = ({ known }: Linear, { id }: Item): void =>
  known.store.dispatch({ type: 'ui.looked', change: { selected: id, scroll: 0 } });

const announceRow = (desk: Linear, item: Item): void => {
  announceSelection(desk, item.id);
  markRead(desk);
};

/** Marks a call as read after it was announced to its end. Only then it can be approved. */
const markRead = ({ known }: Linear): void => {
  const { lists, ui } = known.store.get();
  const { page, selected } = topView(ui);
  const row = selected ?? '';
  const stage = page === 'run' ? lists.stages.byId[row] : undefined;
  const asks = page === 'approvals' ? lists.approvals.byId[row] : stage;
  if (asks?.digest) known.store.dispatch({ type: 'approval.seen', digest: asks.digest });
};

/** Verb of the page, or verb of the contract of a browsed resource. */
type WantedLine = { verb: ActVerb } | { name: string };

export const actOn = async (desk: Linear, wanted: WantedLine, named: string): Promise<void> => {
  if (named !== '') {
    const item = find(desk, named);
    if (!item) return;
    select(desk, item);
  }
  const state = desk.known.store.get();
  const page = screenPage(state);
  const act = actIn(state, wanted);
  const words = 'verb' in wanted ? page.leaves?.(state)[wanted.verb] : undefined;
  const target = act?.row.id ?? words?.at(-1) ?? '';
  const isForAll = 'verb' in wanted && wanted.verb === 'mark-all';
  if (!isForAll && isUnchosen(state, page, target)) {
    desk.output.line('Which row? Type the verb with a number or a name.');
  } else if (act) await beginGuarded(desk, act, wanted);
  else if (words) await leaveFor(desk, words);
  else desk.output.line(offlineReason(state) ?? 'Not possible here now.');
};

const actIn = (state: State, wanted: WantedLine): Act | undefined => {
  const page = screenPage(state);
  if ('verb' in wanted) return page.acts?.(state)[wanted.verb];
  return page.verbs?.(state)[verbNames(state).indexOf(wanted.name)];
};

/** Contract verbs of a browsed resource that apply to the selected row. */
export const verbNames = (state: State): string[] =>
  (screenPage(state).verbs?.(state) ?? []).map(({ text }) => text.split(' ')[0] ?? '');

/** Whether the user did not select the target: the first row must not be taken for it. */
const isUnchosen = (state: State, page: ScreenPage, target: string): boolean =>
  filteredItems(page, state).some(({ id }) => id === target) &&
  topView(state.ui).selected !== target;

/**
 * If the action is only valid for announced content, announces it in full right before the
 * question.
 */
const beginGuarded = async (desk: Linear, act: Act, wanted: WantedLine): Promise<void> => {
  if (act.guard === undefined) return beginQuestions(desk, act);
  desk.output.lines(wholeText(desk.known.store.get()));
  markRead(desk);
  await beginQuestions(desk, actIn(desk.known.store.get(), wanted) ?? act);
};
