import type { PageName } from './state/places.js';

/**
 * The place where a key has its meaning: every page, one page, or an open sheet, secret or field.
 */
export type Scope = 'everywhere' | PageName | 'sheet' | 'secret' | 'field';

/** One entry of the keymap, from which hints, help, palette and dispatch are made. */
export interface Binding {
  scope: Scope;
  keys: readonly string[];
  /** The action of the key; it is the same in every scope where the key has one. */
  verb: string;
  /** The effect in this scope, in as few words as possible. */
  text: string;
}

const everywhere = [
  { verb: 'screen', keys: ['1', '2', '3', '4', '5', '6', '7', '8', '9', '0'], text: 'screens' },
  { verb: 'tab-before', keys: ['['], text: 'tab before' },
  { verb: 'tab-next', keys: [']'], text: 'next tab' },
  { verb: 'pane-next', keys: ['tab'], text: 'next pane' },
  { verb: 'pane-before', keys: ['shift-tab'], text: 'pane before' },
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
  { verb: 'match-before', keys: ['N'], text: 'match before' },
  { verb: 'palette', keys: [':'], text: 'command' },
  { verb: 'help', keys: ['?'], text: 'help' },
  { verb: 'related', keys: ['o'], text: 'related' },
  { verb: 'return', keys: ['ctrl-o'], text: 'where you were' },
  { verb: 'follow', keys: ['f'], text: 'follow' },
  { verb: 'zoom', keys: ['z'], text: 'zoom' },
  { verb: 'wrap', keys: ['w'], text: 'wrap' },
  { verb: 'raw', keys: ['v'], text: 'raw JSON' },
  { verb: 'more', keys: ['.'], text: 'show more' },
  { verb: 'less', keys: [','], text: 'show less' },
  { verb: 'copy', keys: ['y'], text: 'copy id' },
  { verb: 'copy-line', keys: ['Y'], text: 'copy CLI line' },
  { verb: 'print', keys: ['P'], text: 'print to the plain terminal' },
  { verb: 'reload', keys: ['ctrl-r'], text: 'reload' },
  { verb: 'redraw', keys: ['ctrl-l'], text: 'redraw' },
  { verb: 'suspend', keys: ['ctrl-z'], text: 'suspend' },
  { verb: 'quit', keys: ['q'], text: 'quit' },
  { verb: 'end', keys: ['ctrl-c'], text: 'quit at once' },
] as const;

/**
 * Keys that act on a thing. Acts on lower-case keys can be undone, do no harm, or ask first; those
 * on upper-case keys open a sheet or a command of the CLI.
 */
const acts = [
  { scope: 'hooks', verb: 'add', keys: ['a'], text: 'add' },
  { scope: 'hooks', verb: 'edit', keys: ['e'], text: 'edit' },
  { scope: 'hooks', verb: 'start', keys: ['s'], text: 'enable' },
  { scope: 'hooks', verb: 'pause', keys: ['p'], text: 'disable' },
  { scope: 'hooks', verb: 'test', keys: ['t'], text: 'test' },
  { scope: 'hooks', verb: 'delete', keys: ['D'], text: 'delete' },
  { scope: 'hook', verb: 'edit', keys: ['e'], text: 'edit' },
  { scope: 'hook', verb: 'start', keys: ['s'], text: 'enable' },
  { scope: 'hook', verb: 'pause', keys: ['p'], text: 'disable' },
  { scope: 'hook', verb: 'replay', keys: ['r'], text: 'replay' },
  { scope: 'hook', verb: 'test', keys: ['t'], text: 'test' },
  { scope: 'hook', verb: 'rotate', keys: ['R'], text: 'rotate secret' },
  { scope: 'hook', verb: 'delete', keys: ['D'], text: 'delete' },
  { scope: 'execution', verb: 'replay', keys: ['r'], text: 'replay' },
  { scope: 'approvals', verb: 'approve', keys: ['A'], text: 'approve' },
  { scope: 'approvals', verb: 'stop', keys: ['x'], text: 'deny' },
  { scope: 'agents', verb: 'add', keys: ['a'], text: 'spawn' },
  { scope: 'agents', verb: 'message', keys: ['i'], text: 'message' },
  { scope: 'agents', verb: 'pause', keys: ['p'], text: 'pause' },
  { scope: 'agents', verb: 'start', keys: ['s'], text: 'resume' },
  { scope: 'agents', verb: 'stop', keys: ['x'], text: 'stop' },
  { scope: 'agents', verb: 'delete', keys: ['D'], text: 'delete' },
  { scope: 'agent', verb: 'message', keys: ['i'], text: 'message' },
  { scope: 'agent', verb: 'pause', keys: ['p'], text: 'pause' },
  { scope: 'agent', verb: 'start', keys: ['s'], text: 'resume' },
  { scope: 'agent', verb: 'stop', keys: ['x'], text: 'stop' },
  { scope: 'agent', verb: 'delete', keys: ['D'], text: 'delete' },
  { scope: 'inbox', verb: 'mark', keys: ['m'], text: 'mark read' },
  { scope: 'inbox', verb: 'mark-all', keys: ['M'], text: 'mark all read' },
  { scope: 'vault', verb: 'add', keys: ['a'], text: 'add' },
  { scope: 'vault', verb: 'edit', keys: ['e'], text: 'edit' },
  { scope: 'vault', verb: 'rotate', keys: ['R'], text: 'rotate' },
  { scope: 'vault', verb: 'use', keys: ['u'], text: 'use earlier value' },
  { scope: 'vault', verb: 'delete', keys: ['D'], text: 'delete' },
  { scope: 'models', verb: 'add', keys: ['a'], text: 'add' },
  { scope: 'models', verb: 'edit', keys: ['e'], text: 'edit' },
  { scope: 'models', verb: 'test', keys: ['t'], text: 'test' },
  { scope: 'models', verb: 'use', keys: ['u'], text: 'use as default' },
  { scope: 'tunnel', verb: 'check', keys: ['c'], text: 'check' },
  { scope: 'tunnel', verb: 'start', keys: ['s'], text: 'start' },
  { scope: 'tunnel', verb: 'stop', keys: ['x'], text: 'stop' },
  { scope: 'tunnel', verb: 'edit', keys: ['e'], text: 'set up' },
  { scope: 'tunnel', verb: 'delete', keys: ['D'], text: 'forget address' },
  { scope: 'team', verb: 'add', keys: ['a'], text: 'invite' },
  { scope: 'team', verb: 'edit', keys: ['e'], text: 'edit' },
  { scope: 'team', verb: 'start', keys: ['s'], text: 'enable' },
  { scope: 'team', verb: 'pause', keys: ['p'], text: 'disable' },
  { scope: 'team', verb: 'delete', keys: ['D'], text: 'end, revoke' },
  { scope: 'browse', verb: 'add', keys: ['a'], text: 'add' },
  { scope: 'browse', verb: 'edit', keys: ['e'], text: 'edit' },
] as const;

/** Keys while a question is open. Enter alone never confirms. */
const sheet = [
  { verb: 'yes', keys: ['y'], text: 'do it' },
  { verb: 'no', keys: ['n', 'esc', 'enter'], text: 'leave it' },
] as const;

/** Keys while a secret is shown that will not be shown again. */
const secret = [
  { verb: 'copy-value', keys: ['y'], text: 'copy it' },
  { verb: 'kept', keys: ['enter'], text: 'I have it' },
] as const;

/** Keys while a field is open. */
const field = [
  { verb: 'accept', keys: ['enter'], text: 'take it' },
  { verb: 'leave', keys: ['esc'], text: 'leave' },
  { verb: 'line', keys: ['ctrl-j'], text: 'new line, in a message' },
  { verb: 'write', keys: ['ctrl-x'], text: 'write it in $EDITOR, in a message' },
  { verb: 'clear', keys: ['ctrl-c', 'ctrl-u'], text: 'clear' },
  { verb: 'start-of-line', keys: ['ctrl-a', 'home'], text: 'to the beginning' },
  { verb: 'end-of-line', keys: ['ctrl-e', 'end'], text: 'to the end' },
  { verb: 'cut-end', keys: ['ctrl-k'], text: 'cut to the end' },
  { verb: 'cut-word', keys: ['ctrl-w'], text: 'cut the word' },
  { verb: 'left', keys: ['left'], text: 'left' },
  { verb: 'right', keys: ['right'], text: 'right' },
  { verb: 'rub', keys: ['backspace', 'delete'], text: 'rub out' },
  { verb: 'choose-down', keys: ['down', 'tab'], text: 'next match' },
  { verb: 'choose-up', keys: ['up', 'shift-tab'], text: 'match before' },
] as const;

/** Verbs that only move or show. Their keys count in a burst too; the others do not. */
const MOVES: readonly string[] = ['down', 'up', 'page-down', 'page-up', 'first', 'last'];

export type Move = (typeof everywhere)[number]['verb'];
export type ActVerb = (typeof acts)[number]['verb'];
export type SheetVerb = (typeof sheet)[number]['verb'];
export type SecretVerb = (typeof secret)[number]['verb'];
export type FieldVerb = (typeof field)[number]['verb'];

export const bindings: readonly Binding[] = [
  ...everywhere.map((binding) => ({ ...binding, scope: 'everywhere' as const })),
  ...acts,
  ...sheet.map((binding) => ({ ...binding, scope: 'sheet' as const })),
  ...secret.map((binding) => ({ ...binding, scope: 'secret' as const })),
  ...field.map((binding) => ({ ...binding, scope: 'field' as const })),
];

const found = <B extends { keys: readonly string[] }>(table: readonly B[], key: string) =>
  table.find(({ keys }) => keys.includes(key));

/** Returns what a key means on every page. */
export const moveOf = (key: string): Move | undefined => found(everywhere, key)?.verb;
/** Returns what a key does to the selection of that page. */
export const actOf = (page: PageName, key: string): ActVerb | undefined =>
  found(
    acts.filter(({ scope }) => scope === page),
    key,
  )?.verb;
export const sheetVerbOf = (key: string): SheetVerb | undefined => found(sheet, key)?.verb;
export const secretVerbOf = (key: string): SecretVerb | undefined => found(secret, key)?.verb;
export const fieldVerbOf = (key: string): FieldVerb | undefined => found(field, key)?.verb;
export const isMove = (verb: string): boolean => MOVES.includes(verb);

/** Returns the character that a key types into a field; null for a named key, which types none. */
export const writtenBy = (key: string): string | null => {
  if (key === 'space') return ' ';
  return [...key].length === 1 ? key : null;
};

/** Returns the acts of a page, with their keys. */
export const actsOf = (page: PageName): { verb: ActVerb; key: string; text: string }[] =>
  acts
    .filter(({ scope }) => scope === page)
    .map(({ verb, keys, text }) => ({ verb, key: keys[0], text }));

/** Scopes in which the keys of pages have no effect. */
const APART: readonly Scope[] = ['sheet', 'secret', 'field'];

/**
 * Returns the conflicts of a keymap: a key with two meanings in the same scope, or a key that means
 * two different things on pages.
 */
export const conflictsIn = (table: readonly Binding[]): string[] => {
  const pages = table.filter(({ scope }) => !APART.includes(scope));
  return [
    ...doubled(pages, (a, b) => a.verb !== b.verb || a.scope === b.scope),
    ...doubled(pages, (a, b) => a.scope === 'everywhere' && b.scope !== 'everywhere'),
    ...doubled(table, (a, b) => a.scope === b.scope && APART.includes(a.scope)),
  ];
};

const doubled = (
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
