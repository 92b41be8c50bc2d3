import { letterRoots, type PageName, pageNames } from './state/locations.js';

/** Where a key applies: all pages, one page, or an open sheet, secret or field. */
export type Scope = 'everywhere' | PageName | 'sheet' | 'secret' | 'field';

/** Entry of the keymap. Hints, help, palette and dispatch are built from it. */
export interface Binding {
  scope: Scope;
  keys: readonly string[];
  /** Action of the key. Each key has the same action in every scope. */
  verb: string;
  text: string;
}

/** First half of the keys that open a screen by letter. Alone it is a key too. */
const PREFIX = 'g';

const everywhere = [
  { verb: 'screen', keys: ['1', '2', '3', '4', '5', '6', '7', '8', '9', '0'], text: 'screens' },
  {
    verb: 'go',
    keys: Object.keys(letterRoots).map((letter) => `${PREFIX}${letter}`),
    text: 'more screens',
  },
  { verb: 'tab-before', keys: ['['], text: 'previous tab' },
  { verb: 'tab-next', keys: [']'], text: 'next tab' },
  { verb: 'pane-next', keys: ['tab'], text: 'next pane' },
  { verb: 'pane-before', keys: ['shift-tab'], text: 'previous pane' },
  { verb: 'down', keys: ['j', 'down'], text: 'down' },
  { verb: 'up', keys: ['k', 'up'], text: 'up' },
  { verb: 'first', keys: ['g', 'home'], text: 'first' },
  { verb: 'last', keys: ['G', 'end'], text: 'last' },
  { verb: 'page-down', keys: ['ctrl-d', 'pagedown'], text: 'page down' },
  { verb: 'page-up', keys: ['ctrl-u', 'pageup'], text: 'page up' },
  { verb: 'open', keys: ['enter', 'l', 'right'], text: 'open' },
  { verb: 'back', keys: ['esc', 'h', 'left'], text: 'back' },
  { verb: 'filter', keys: ['/'], text: 'filter' },
  { verb: 'match-next', keys: ['n'], text: 'next match' },
  { verb: 'match-before', keys: ['N'], text: 'previous match' },
  { verb: 'palette', keys: [':'], text: 'command' },
  { verb: 'help', keys: ['?'], text: 'help' },
  { verb: 'related', keys: ['o'], text: 'related' },
  { verb: 'return', keys: ['ctrl-o'], text: 'jump back' },
  { verb: 'follow', keys: ['f'], text: 'follow' },
  { verb: 'zoom', keys: ['z'], text: 'zoom' },
  { verb: 'wrap', keys: ['w'], text: 'wrap' },
  { verb: 'raw', keys: ['v'], text: 'raw JSON' },
  { verb: 'more', keys: ['.'], text: 'show more' },
  { verb: 'less', keys: [','], text: 'show less' },
  { verb: 'copy', keys: ['y'], text: 'copy id' },
  { verb: 'copy-line', keys: ['Y'], text: 'copy CLI line' },
  { verb: 'print', keys: ['P'], text: 'print as text' },
  { verb: 'reload', keys: ['ctrl-r'], text: 'reload' },
  { verb: 'redraw', keys: ['ctrl-l'], text: 'redraw' },
  { verb: 'suspend', keys: ['ctrl-z'], text: 'suspend' },
  { verb: 'quit', keys: ['q'], text: 'quit' },
  { verb: 'end', keys: ['ctrl-c'], text: 'quit at once' },
] as const;

/**
 * Each key means the same on every page. Lower-case keys do something harmless or undoable, or ask
 * first. Upper-case keys open a question or a CLI command.
 */
const actKeys = {
  add: 'a',
  edit: 'e',
  start: 's',
  pause: 'p',
  test: 't',
  delete: 'D',
  replay: 'r',
  rotate: 'R',
  approve: 'A',
  'approve-conversation': 'C',
  'approve-host': 'H',
  stop: 'x',
  message: 'i',
  mark: 'm',
  'mark-all': 'M',
  use: 'u',
  check: 'c',
} as const;

const ofCapability = {
  message: 'install',
  mark: 'measure',
  check: 'verify',
  stop: 'cancel',
  delete: 'delete',
} as const;

const acts: Partial<Record<PageName, Partial<Record<ActVerb, string>>>> = {
  hooks: {
    add: 'add',
    edit: 'edit',
    start: 'enable',
    pause: 'disable',
    test: 'test',
    delete: 'delete',
  },
  hook: {
    edit: 'edit',
    start: 'enable',
    pause: 'disable',
    replay: 'replay',
    test: 'test',
    rotate: 'rotate secret',
    delete: 'delete',
  },
  execution: { replay: 'replay' },
  approvals: {
    approve: 'approve',
    'approve-conversation': 'allow in conversation',
    'approve-host': 'allow host',
    stop: 'deny',
  },
  agents: {
    add: 'spawn',
    message: 'message',
    pause: 'pause',
    start: 'resume',
    stop: 'stop',
    delete: 'delete',
  },
  agent: { message: 'message', pause: 'pause', start: 'resume', stop: 'stop', delete: 'delete' },
  inbox: { mark: 'mark read', 'mark-all': 'mark all read' },
  vault: { add: 'add', edit: 'edit', rotate: 'rotate', use: 'use earlier value', delete: 'delete' },
  models: { add: 'add', edit: 'edit', test: 'test', use: 'use as default' },
  tunnel: {
    check: 'check',
    start: 'start',
    stop: 'stop',
    edit: 'set up',
    delete: 'forget address',
  },
  team: {
    add: 'invite, create',
    edit: 'edit',
    start: 'enable, approve',
    pause: 'disable',
    stop: 'leave',
    delete: 'end, revoke, delete',
  },
  org: {
    add: 'add, invite',
    edit: 'edit',
    start: 'promote',
    pause: 'demote',
    use: 'transfer',
    delete: 'remove, withdraw',
  },
  knowledge: { message: 'ask', add: 'add a note', edit: 'edit', delete: 'delete' },
  chunk: { message: 'ask' },
  answer: { message: 'ask' },
  report: { stop: 'cancel' },
  operations: { stop: 'cancel' },
  operation: { stop: 'cancel' },
  tasks: {
    add: 'note',
    edit: 'edit',
    mark: 'complete',
    start: 'reopen',
    message: 'delegate',
    delete: 'delete',
  },
  task: { edit: 'edit', mark: 'complete', start: 'reopen', message: 'delegate', delete: 'delete' },
  pipelines: { add: 'start', replay: 'retry', stop: 'stop' },
  runs: { replay: 'retry', stop: 'stop' },
  run: { approve: 'approve', message: 'answer', stop: 'deny, stop', replay: 'retry' },
  capabilities: ofCapability,
  capability: ofCapability,
  mail: {
    message: 'draft an answer',
    start: 'send',
    add: 'add an account',
    edit: 'edit',
    test: 'test',
    check: 'process new mail',
    mark: 'make a task',
    stop: 'cancel',
    delete: 'delete',
  },
  sentmail: { stop: 'cancel' },
  message: { message: 'draft an answer', add: 'keep its files', mark: 'make a task' },
  thread: { message: 'draft an answer', mark: 'make a task' },
  browse: { add: 'add', edit: 'edit' },
};

/** Keys while a question is open. Enter never confirms. */
const sheet = [
  { verb: 'yes', keys: ['y'], text: 'confirm' },
  { verb: 'no', keys: ['n', 'esc', 'enter'], text: 'cancel' },
] as const;

const secret = [
  { verb: 'copy-value', keys: ['y'], text: 'copy' },
  { verb: 'kept', keys: ['enter'], text: 'I saved it' },
] as const;

const field = [
  { verb: 'accept', keys: ['enter'], text: 'accept' },
  { verb: 'leave', keys: ['esc'], text: 'close' },
  { verb: 'line', keys: ['ctrl-j'], text: 'new line (messages only)' },
  { verb: 'write', keys: ['ctrl-x'], text: 'edit in $EDITOR (messages only)' },
  { verb: 'clear', keys: ['ctrl-u'], text: 'clear' },
  { verb: 'clear-or-leave', keys: ['ctrl-c'], text: 'clear, or close if empty' },
  { verb: 'start-of-line', keys: ['ctrl-a', 'home'], text: 'go to the beginning' },
  { verb: 'end-of-line', keys: ['ctrl-e', 'end'], text: 'go to the end' },
  { verb: 'cut-end', keys: ['ctrl-k'], text: 'cut to the end' },
  { verb: 'cut-word', keys: ['ctrl-w'], text: 'cut the word' },
  { verb: 'left', keys: ['left'], text: 'left' },
  { verb: 'right', keys: ['right'], text: 'right' },
  { verb: 'rub', keys: ['backspace', 'delete'], text: 'delete a character' },
  { verb: 'choose-down', keys: ['down', 'tab'], text: 'next match' },
  { verb: 'choose-up', keys: ['up', 'shift-tab'], text: 'previous match' },
] as const;

/** Only these keys work within a burst. */
const MOVES: readonly string[] = ['down', 'up', 'page-down', 'page-up', 'first', 'last'];

export type Move = (typeof everywhere)[number]['verb'];
export type ActVerb = keyof typeof actKeys;
export type SheetVerb = (typeof sheet)[number]['verb'];
export type SecretVerb = (typeof secret)[number]['verb'];
export type FieldVerb = (typeof field)[number]['verb'];

const isActVerb = (name: string): name is ActVerb => name in actKeys;

/** `text` has all effects of the key on the page, `hint` the first. */
export const pageActKeys = (
  page: PageName,
): { verb: ActVerb; key: string; text: string; hint: string }[] =>
  Object.entries(acts[page] ?? {}).flatMap(([verb, text]) => {
    const [hint = text] = text.split(', ');
    return isActVerb(verb) ? [{ verb, key: actKeys[verb], text, hint }] : [];
  });

export const bindings: readonly Binding[] = [
  ...everywhere.map((binding) => ({ ...binding, scope: 'everywhere' as const })),
  ...pageNames.flatMap((scope) =>
    pageActKeys(scope).map(({ verb, key, text }) => ({ scope, verb, keys: [key], text })),
  ),
  ...sheet.map((binding) => ({ ...binding, scope: 'sheet' as const })),
  ...secret.map((binding) => ({ ...binding, scope: 'secret' as const })),
  ...field.map((binding) => ({ ...binding, scope: 'field' as const })),
];

const findBinding = <B extends { keys: readonly string[] }>(table: readonly B[], key: string) =>
  table.find(({ keys }) => keys.includes(key));

export const moveForKey = (key: string): Move | undefined => findBinding(everywhere, key)?.verb;
export const actForKey = (page: PageName, pressed: string): ActVerb | undefined =>
  pageActKeys(page).find(({ key }) => key === pressed)?.verb;
/** Whether the key may be the first half of another one. */
export const isPrefix = (key: string): boolean => key === PREFIX;
export const sheetVerbForKey = (key: string): SheetVerb | undefined =>
  findBinding(sheet, key)?.verb;
export const secretVerbForKey = (key: string): SecretVerb | undefined =>
  findBinding(secret, key)?.verb;
export const fieldVerbForKey = (key: string): FieldVerb | undefined =>
  findBinding(field, key)?.verb;
export const isMove = (verb: string): boolean => MOVES.includes(verb);

/** Character that a key types into a field. `null` for a named key. */
export const typedCharacter = (key: string): string | null => {
  if (key === 'space') return ' ';
  return [...key].length === 1 ? key : null;
};

/** Scopes in which page keys have no effect. */
const SEPARATE_SCOPES: readonly Scope[] = ['sheet', 'secret', 'field'];

/** Finds keys with two meanings in one scope, or with different meanings on pages. */
export const findKeyConflicts = (table: readonly Binding[]): string[] => {
  const pages = table.filter(({ scope }) => !SEPARATE_SCOPES.includes(scope));
  return [
    ...findDuplicates(pages, (a, b) => a.verb !== b.verb || a.scope === b.scope),
    ...findDuplicates(pages, (a, b) => a.scope === 'everywhere' && b.scope !== 'everywhere'),
    ...findDuplicates(table, (a, b) => a.scope === b.scope && SEPARATE_SCOPES.includes(a.scope)),
  ];
};

const findDuplicates = (
  table: readonly Binding[],
  isWrong: (a: Binding, b: Binding) => boolean,
): string[] =>
  table.flatMap((a, at) =>
    table
      .slice(at + 1)
      .filter((b) => isWrong(a, b) || isWrong(b, a))
      .flatMap((b) =>
        a.keys
          .filter((key) => b.keys.includes(key))
          .map((key) => `${key}: ${a.verb} (${a.scope}), ${b.verb} (${b.scope})`),
      ),
  );
