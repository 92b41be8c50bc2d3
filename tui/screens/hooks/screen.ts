import type { PageNeed, ScreenPage } from '../../page.js';
import { counted } from '../../parts/words.js';
import { chosenOf } from '../../state/selection.js';
import type { State } from '../../state/state.js';
import { lookOf } from '../../state/ui.js';
import { executionItems, hookActs, hookItems, replayAct, rotation, shownHook } from './slice.js';
import { hookCells, hookHead, hooksView, hookText, hookView, runCells } from './view.js';

const EVERY_MS = 15_000;
/**
 * Time that a selection must last before its executions are loaded: a user who moves down the list
 * needs none of them.
 */
const REST_MS = 200;

const chosenHook = (state: State) =>
  state.lists.hooks.byId[chosenOf(hooksPage, state)?.id ?? ''] ?? null;

const runsOf = (of: string | null): PageNeed[] =>
  of === null ? [] : [{ is: 'list', list: 'executions', of, everyMs: EVERY_MS, afterMs: REST_MS }];

export const hooksPage: ScreenPage = {
  name: 'hooks',
  root: 'hooks',
  title: 'Hooks',
  tabs: [],
  items: hookItems,
  opens: (state) => {
    const hook = chosenHook(state);
    return hook && { page: 'hook', id: hook.id };
  },
  acts: (state) => {
    const hook = chosenHook(state);
    return hook ? hookActs(hook) : {};
  },
  leaves: (state) => {
    const hook = chosenHook(state);
    return { add: ['hooks', 'create'], ...(hook && { edit: ['hooks', 'update', hook.id] }) };
  },
  pages: () => 'hooks',
  summary: (state) => {
    const items = hookItems(state);
    const failed = items.filter(({ facts }) => facts?.status === 'error').length;
    return `${counted(items.length, 'hook')}${failed > 0 ? `, ${failed} with an error` : ''}`;
  },
  glossary: [
    ['skipped', 'a condition or a limit held it back; nothing ran'],
    ['interrupted', 'the daemon ended in the middle: look before you replay'],
  ],
  needs: (state) => [
    { is: 'list', list: 'hooks', everyMs: EVERY_MS },
    ...runsOf(chosenHook(state)?.id ?? null),
  ],
  view: hooksView,
  cells: hookCells,
};

export const hookPage: ScreenPage = {
  name: 'hook',
  root: 'hooks',
  title: 'Hook',
  tabs: ['Executions', 'Settings', 'Deliver'],
  items: (state) => (lookOf(state.ui).tab === 0 ? executionItems(state) : []),
  text: hookText,
  textHeight: (_, { height }) => height - 3,
  opens: (state) => {
    const run = chosenOf(hookPage, state);
    const of = lookOf(state.ui).id;
    return run && of !== null ? { page: 'execution', id: run.id, of } : null;
  },
  acts: (state) => {
    const hook = shownHook(state);
    const run = state.lists.executions.byId[chosenOf(hookPage, state)?.id ?? ''];
    return { ...(hook ? hookActs(hook) : {}), ...(run ? { replay: replayAct(run) } : {}) };
  },
  leaves: (state) => {
    const hook = shownHook(state);
    if (!hook) return {};
    return { edit: ['hooks', 'update', hook.id], rotate: rotation(hook) };
  },
  pages: () => 'executions',
  needs: ({ ui }) => [
    { is: 'list', list: 'hooks', everyMs: EVERY_MS },
    { is: 'list', list: 'executions', of: lookOf(ui).id, everyMs: 5000 },
  ],
  view: hookView,
  cells: (state) => (lookOf(state.ui).tab === 0 ? runCells(state) : []),
  head: hookHead,
};
