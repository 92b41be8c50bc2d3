import { type ActVerb, actOf, actsOf, moveOf } from '../keys.js';
import type { ScreenPage } from '../page.js';
import { isQuitCommand } from '../state/palette.js';
import { type Root, roots } from '../state/places.js';

/** The commands of the line-by-line desk, besides the verbs of its pages. */
const commands = [
  { verb: 'menu', text: 'the screens, by number' },
  { verb: 'list', words: ['list', 'again'], text: 'this page from its beginning' },
  { verb: 'next', text: 'the rows, or lines, below' },
  { verb: 'before', words: ['before', 'previous'], text: 'those above' },
  { verb: 'open', text: 'open a row: its number alone does it too, or its name' },
  { verb: 'back', text: 'out of what was opened' },
  { verb: 'return', text: 'where you were before a jump' },
  { verb: 'related', text: 'what belongs to this: the agent of a run, its cause' },
  {
    verb: 'filter',
    words: ['find', 'filter'],
    text: 'only rows with these words; alone: all rows',
  },
  { verb: 'more', text: 'include what has ended, and less important lines' },
  { verb: 'less', text: 'leave those out again' },
  { verb: 'raw', text: 'everything, as JSON; again: in words' },
  { verb: 'follow', text: 'what comes on this page, as it comes; again: stop' },
  { verb: 'reload', text: 'read this page again' },
  { verb: 'copy', words: ['id'], text: 'the id of what is open or chosen' },
  { verb: 'copy-line', words: ['line'], text: 'the command that shows the same' },
  { verb: 'palette', words: ['browse'], text: 'a resource without a screen: browse sessions' },
  { verb: 'tell', text: 'tell on: what happens; tell off: only what needs you' },
  { verb: 'where', words: ['where', 'status'], text: 'who and where you are, and what waits' },
  { verb: 'login', text: 'log in again' },
  { verb: 'help', text: 'these words' },
  { verb: 'quit', words: ['quit', 'exit'], text: 'leave the desk' },
] as const;

const wordsOf = (command: (typeof commands)[number]): readonly string[] =>
  'words' in command ? command.words : [command.verb];

const QUITS: LinearInput = { is: 'command', command: 'quit', rest: '' };

/** Keys of the full-screen desk that hints name, and that have no word of their own. */
const turns = ['tab-next', 'tab-before'] as const;

export type LinearCommand = (typeof commands)[number]['verb'] | (typeof turns)[number];

/** The meaning of a typed line on a page. */
export type LinearInput =
  | { is: 'nothing' }
  | { is: 'number'; number: number }
  | { is: 'screen'; root: Root; rest: string }
  | { is: 'command'; command: LinearCommand; rest: string }
  | { is: 'tab'; tab: number }
  /**
   * A verb of the page. `rest` is the number or the name of the row; empty for what is open or
   * selected.
   */
  | { is: 'act'; verb: ActVerb; rest: string }
  /** A verb of the contract of a browsed resource. */
  | { is: 'verb'; name: string; rest: string }
  | { is: 'unknown'; word: string };

/**
 * Interprets a typed line: first as a verb of the page, then as a word of the desk, then as a key
 * of the full-screen desk.
 */
export const meaningOf = (
  typed: string,
  page: ScreenPage,
  verbs: readonly string[],
): LinearInput => {
  const line = typed.trim().replace(/\s+/g, ' ');
  if (line === '') return { is: 'nothing' };
  if (/^\d{1,9}$/.test(line)) return { is: 'number', number: Number(line) };
  if (line.startsWith(':') && isQuitCommand(line.slice(1))) return QUITS;
  const [word = '', ...others] = line.split(' ');
  const rest = others.join(' ');
  const name = word.toLowerCase();
  const act = actIn(page, line);
  if (act) return { is: 'act', ...act };
  if (verbs.includes(name)) return { is: 'verb', name, rest };
  const command = commands.find((each) => wordsOf(each).includes(name))?.verb;
  if (command) return { is: 'command', command, rest };
  const root = roots.find((each) => each === name);
  if (root) return { is: 'screen', root, rest };
  const tab = page.tabs.findIndex((each) => each.toLowerCase() === name);
  if (tab >= 0) return { is: 'tab', tab };
  return byKey(page, word, rest);
};

/** Finds the longest phrase at the beginning of the line: `mark all read` is not `mark`. */
const actIn = (page: ScreenPage, line: string): { verb: ActVerb; rest: string } | null => {
  const lower = line.toLowerCase();
  const phrases = actsOf(page.name)
    .flatMap(({ verb, text }) => [verb, ...text.split(', ')].map((phrase) => ({ verb, phrase })))
    .filter(({ phrase }) => lower === phrase || lower.startsWith(`${phrase} `))
    .sort((a, b) => b.phrase.length - a.phrase.length);
  const [found] = phrases;
  return found ? { verb: found.verb, rest: line.slice(found.phrase.length).trim() } : null;
};

/**
 * Interprets a word as a key: the letters in hints and help mean the same when they are typed as a
 * word.
 */
const byKey = (page: ScreenPage, word: string, rest: string): LinearInput => {
  const verb = actOf(page.name, word);
  if (verb) return { is: 'act', verb, rest };
  const move = moveOf(word);
  const command = [...commands.map((each) => each.verb), ...turns].find((each) => each === move);
  if (command) return { is: 'command', command, rest };
  return { is: 'unknown', word };
};

/** Returns the help: every word with its effect. */
export const helpLines = (page: ScreenPage): string[] => [
  `Here: ${
    actsOf(page.name)
      .map(({ text, key }) => `${text} (${key})`)
      .join(', ') || 'no verbs'
  }.`,
  ...(page.glossary ?? []).map(([word, text]) => `${word}: ${text}.`),
  `Screens: ${roots.join(', ')}; with a number or a name behind it, that is opened: approvals 3.`,
  ...commands.map((each) => `${wordsOf(each).join(' or ')}: ${each.text}.`),
  'Enter alone: live output pauses, or goes on. It never answers yes.',
  'A verb acts on what is open; with a number behind it on that row: disable 2.',
  'More: adjutant help accessibility',
];
