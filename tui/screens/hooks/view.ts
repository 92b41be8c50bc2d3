import type { Execution, Hook } from '../../../src/client/index.js';
import { faceOf, facing, goneRows } from '../../parts/faces.js';
import { joinPanes, panesOf } from '../../parts/panes.js';
import { apart, row, type ScreenRow, type Size, tonedSpan } from '../../parts/row.js';
import { type Cells, cellsOf, tableRows } from '../../parts/table.js';
import { tabsRow } from '../../parts/tabs.js';
import { factRows, jsonRows, scrolled } from '../../parts/text.js';
import { took } from '../../parts/times.js';
import { rowsOf } from '../../state/lists.js';
import { chosenAt, fits } from '../../state/selection.js';
import type { State } from '../../state/state.js';
import { lookOf } from '../../state/ui.js';
import { toneOf } from '../../theme.js';
import { executionColumns, hookColumns } from './columns.js';
import { executionItems, hookItems, hookState, shownHook } from './slice.js';

const EMPTY = [
  'No hooks yet.',
  'A hook runs an agent, a notice, a forward or a tool when a signed webhook comes.',
  '  a  make one       adjutant hooks create      adjutant help webhooks',
];

/** Shows the list, and the latest executions of the selected hook. */
export const hooksView = (state: State, size: Size): ScreenRow[] => {
  const face = faceOf(state.lists.hooks, {
    ...facing(state.session, size),
    noun: 'hooks',
    empty: EMPTY,
  });
  if (face) return face;
  const look = lookOf(state.ui);
  const hooks = shownHooks(state);
  const panes = panesOf(size, look, hooks.length + 1);
  const at = chosenAt(hooks, look.selected);
  const list = tableRows(hooks, hookColumns(state), panes.list, { at });
  const hook = hooks[at];
  if (!panes.detail || !hook) return list;
  return joinPanes(panes, list, latest(state, hook, panes.detail));
};

/** Returns the hooks that the filter leaves. */
const shownHooks = (state: State): Hook[] => {
  const ids = kept(hookItems(state), lookOf(state.ui).filter);
  return rowsOf(state.lists.hooks).filter(({ id }) => ids.has(id));
};

export const hookCells = (state: State): Cells[] =>
  cellsOf(shownHooks(state), hookColumns(state), ({ id }) => id);

const latest = (state: State, hook: Hook, size: Size): ScreenRow[] => {
  const { executions } = state.lists;
  const head = row(tonedSpan('strong', `Latest executions of ${hook.name}`));
  if (executions.of !== hook.id) return [head];
  const empty = ['  none yet'];
  const face = faceOf(executions, { ...facing(state.session, size), noun: 'executions', empty });
  if (face) return [head, ...face];
  const below = { ...size, height: size.height - 1 };
  const [, ...rows] = tableRows(
    rowsOf(executions).slice(0, size.height),
    executionColumns(state),
    below,
    { at: -1 },
  );
  return [head, ...rows];
};

/** Shows one hook: its executions, its settings, or what a sender needs to know. */
export const hookView = (state: State, size: Size): ScreenRow[] => {
  const hook = shownHook(state);
  if (!hook) return goneRows(state.lists.hooks, 'hook', facing(state.session, size));
  const look = lookOf(state.ui);
  const [name = [], facts = []] = hookHead(state);
  const head = apart(name, tabsRow(['Executions', 'Settings', 'Deliver'], look.tab), size.width);
  const body = { ...size, height: size.height - 3 };
  const rows =
    look.tab === 0
      ? runs(state, body)
      : scrolled(hookText(state, size.width) ?? [], look.scroll, body);
  return [head, facts, [], ...rows];
};

/** Returns the name and the state of the hook, then its settings in short. */
export const hookHead = (state: State): ScreenRow[] => {
  const hook = shownHook(state);
  if (!hook) return [];
  return [
    row(
      tonedSpan('strong', hook.name),
      '   ',
      tonedSpan(toneOf(hookState(hook)), hookState(hook)),
      `   ${hook.trigger} → ${hook.action}`,
    ),
    row(tonedSpan('muted', hookFacts(hook))),
  ];
};

const runs = (state: State, size: Size): ScreenRow[] => {
  const { executions } = state.lists;
  const empty = ['No runs yet.', '  t  run it now      ]  what its sender must be told'];
  const face = faceOf(executions, { ...facing(state.session, size), noun: 'executions', empty });
  if (face) return face;
  const shown = shownRuns(state);
  const at = chosenAt(shown, lookOf(state.ui).selected);
  return tableRows(shown, executionColumns(state), size, { at });
};

const shownRuns = (state: State): Execution[] => {
  const ids = kept(executionItems(state), lookOf(state.ui).filter);
  return rowsOf(state.lists.executions).filter(({ id }) => ids.has(id));
};

export const runCells = (state: State): Cells[] =>
  cellsOf(shownRuns(state), executionColumns(state), ({ id }) => id);

const hookFacts = ({ triggerConfig, concurrency, cooldownMs }: Hook): string =>
  [
    triggerConfig.webhookPath && `path ${triggerConfig.webhookPath}`,
    triggerConfig.cron && `cron ${triggerConfig.cron}`,
    triggerConfig.webhookPath &&
      (triggerConfig.webhookSecretSet ? 'secret set' : 'NO SECRET: refuses all'),
    concurrency === null ? null : `concurrency ${concurrency}`,
    cooldownMs > 0 ? `cooldown ${took(cooldownMs)}` : null,
  ]
    .filter(Boolean)
    .join('   ');

/**
 * Returns the settings, or what a sender such as a forge needs for its deliveries, without the
 * secret.
 */
export const hookText = (state: State, width: number): ScreenRow[] | null => {
  const hook = shownHook(state);
  const { tab, isRaw, isWrapped } = lookOf(state.ui);
  if (!hook || tab === 0) return null;
  if (tab === 2) return deliverRows(state, hook, width);
  if (isRaw) return jsonRows(hook, width, isWrapped);
  const { name, description, trigger, triggerConfig, action, actionConfig, ...rest } = hook;
  const facts: [string, unknown][] = [
    ['Name', name],
    ['Description', description],
    ['Trigger', trigger],
    ...Object.entries(triggerConfig).map(([key, value]): [string, unknown] => [`  ${key}`, value]),
    ['Action', action],
    ...Object.entries(actionConfig).map(([key, value]): [string, unknown] => [`  ${key}`, value]),
    ['Conditions', rest.conditions.length === 0 ? 'none' : rest.conditions],
    ['Limits', rest.limits ?? 'none of its own'],
    ['Id', rest.id],
  ];
  return factRows(
    facts.map(([key, value]): [string, string] => [key, plainOf(value)]),
    width,
  );
};

const plainOf = (value: unknown): string => {
  if (value === null || value === undefined) return '-';
  return typeof value === 'string' ? value : JSON.stringify(value);
};

const deliverRows = ({ session }: State, hook: Hook, width: number): ScreenRow[] => {
  const path = hook.triggerConfig.webhookPath;
  if (!path) return [row(`A ${hook.trigger} fires it: there is no sender to tell.`)];
  return factRows(
    [
      ['Payload URL', `${session.url}/api/webhooks/${encodeURIComponent(path)}`],
      ['Content type', 'application/json'],
      [
        'Secret',
        hook.triggerConfig.webhookSecretSet
          ? 'the one that you gave it; R makes a new one'
          : 'none yet: R makes one',
      ],
      ['Signature', 'X-Hub-Signature-256: sha256=<HMAC of the body>'],
      ['By hand', `adjutant hooks send ${hook.name}`],
    ],
    width,
  );
};

const kept = (items: { id: string; name: string; words: string }[], filter: string): Set<string> =>
  new Set(items.filter((item) => filter === '' || fits(item, filter)).map(({ id }) => id));
