import { pageActKeys } from '../keys.js';
import type { ScreenPage } from '../page.js';
import type { Act } from './act.js';
import { listRows } from './lists.js';
import {
  agentTarget,
  digitRoots,
  hookTarget,
  type JumpTarget,
  letterRoots,
  orgsTarget,
  type PageName,
  type Root,
} from './locations.js';
import { browsedResources } from './resources.js';
import type { State } from './state.js';
import { offlineReason } from './verbs.js';

export interface Match {
  text: string;
  /** Equivalent command or key. */
  line: string;
  does: { act: Act } | { goal: JumpTarget } | { leave: readonly string[] } | { quits: true };
}

const MAX_MATCHES = 50;
const QUIT: Match = { text: 'quit', line: 'key q', does: { quits: true } };
const ORGS: Match = {
  text: 'go to Organizations',
  line: 'adjutant orgs list',
  does: { goal: orgsTarget },
};
/** Quit commands of vi, such as `:q`, `:q!`, `:qa`, `:wq`, `:x` and `:quit`. */
const VI_QUIT = /^(w?qa?|quit(all)?|xa?|xit|exit)!?$/;

/**
 * Matching entries: actions on the selection, then screens, resources and objects. Offline, actions
 * are left out.
 */
export const findPaletteMatches = (
  state: State,
  page: ScreenPage,
  pages: Record<PageName, ScreenPage>,
  typed: string,
): Match[] => {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const all = [
    ...(offlineReason(state) === null ? ofSelection(state, page) : []),
    ...ofScreens(pages),
    ORGS,
    ...ofResources(state),
    ...ofObjects(state),
    QUIT,
  ];
  const fitting = all.filter(({ text, line }) =>
    words.every((word) => `${text} ${line}`.toLowerCase().includes(word)),
  );
  return (
    isQuitCommand(typed) ? [QUIT, ...fitting.filter((each) => each !== QUIT)] : fitting
  ).slice(0, MAX_MATCHES);
};

/** A quit command of an editor ends the desk, even if it matches an entry. */
export const isQuitCommand = (typed: string): boolean => VI_QUIT.test(typed.trim());

const ofSelection = (state: State, page: ScreenPage): Match[] => {
  const acts = page.acts?.(state) ?? {};
  const leaves = page.leaves?.(state) ?? {};
  const verbs = (page.verbs?.(state) ?? []).map(
    (act): Match => ({ text: act.text, line: act.line, does: { act } }),
  );
  const keyed = pageActKeys(page.name).flatMap(({ verb, hint }): Match[] => {
    const act = acts[verb];
    if (act) return [{ text: act.text, line: act.line, does: { act } }];
    const leave = leaves[verb];
    if (!leave) return [];
    return [
      { text: `${hint} (${page.title})`, line: `adjutant ${leave.join(' ')}`, does: { leave } },
    ];
  });
  return [...keyed, ...verbs];
};

/** Resources without a screen. They open over the current screen. */
const ofResources = ({ ui: { root } }: State): Match[] =>
  browsedResources.map((of) => ({
    text: `browse ${of}`,
    line: `adjutant ${of} list`,
    does: { goal: { root, places: [{ page: 'browse', id: null, of }] } },
  }));

const ofScreens = (pages: Record<PageName, ScreenPage>): Match[] =>
  [
    ...digitRoots.map((root, at): [Root, string] => [root, `key ${(at + 1) % 10}`]),
    ...Object.entries(letterRoots).map(([letter, root]): [Root, string] => [
      root,
      `keys g ${letter}`,
    ]),
  ].map(([root, line]) => ({
    text: `go to ${pages[root].title}`,
    line,
    does: { goal: { root, places: [] } },
  }));

const ofObjects = ({ lists }: State): Match[] => [
  ...listRows(lists.hooks).map(({ id, name }) => ({
    text: `go to hook ${name}`,
    line: `adjutant hooks get ${id}`,
    does: { goal: hookTarget(id) },
  })),
  ...listRows(lists.agents).map(({ id, name }) => ({
    text: `go to agent ${name}`,
    line: `adjutant agents get ${id}`,
    does: { goal: agentTarget(id) },
  })),
];
