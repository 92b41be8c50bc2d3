import { type ActVerb, actForKey, moveForKey, pageActKeys } from '../keys.js';
import type { ScreenPage } from '../page.js';
import { type Root, roots } from '../state/locations.js';
import { isQuitCommand } from '../state/palette.js';

const commands = [
  { verb: 'menu', text: 'list the screens by number' },
  { verb: 'list', words: ['list', 'again'], text: 'read this page from the beginning' },
  { verb: 'next', text: 'read the next rows or lines' },
  { verb: 'before', words: ['before', 'previous'], text: 'read the previous rows or lines' },
  { verb: 'open', text: 'open a row by its number or name; the number alone works too' },
  { verb: 'back', text: 'clear the filter, or close what is open' },
  { verb: 'return', text: 'go back to the page before a jump' },
  { verb: 'related', text: 'open the related object, such as the agent of an execution' },
  {
    verb: 'filter',
    words: ['find', 'filter'],
    text: 'show only rows with these words; without words, all rows',
  },
  { verb: 'more', text: 'include ended items and less important lines' },
  { verb: 'less', text: 'hide ended items and less important lines' },
  { verb: 'raw', text: 'switch between JSON and text' },
  { verb: 'follow', text: 'start or stop live output of this page' },
  { verb: 'reload', text: 'load this page again' },
  { verb: 'copy', words: ['id'], text: 'show the id of the open or selected object' },
  { verb: 'copy-line', words: ['line'], text: 'show the command that prints this page' },
  { verb: 'palette', words: ['browse'], text: 'open a resource without a screen: browse sessions' },
  { verb: 'orgs', words: ['orgs', 'org'], text: 'list your organizations; org acme describes one' },
  { verb: 'tell', text: 'tell on: announce all events; tell off: only what needs you' },
  {
    verb: 'where',
    words: ['where', 'status'],
    text: 'show your user, the connection and pending approvals',
  },
  { verb: 'login', text: 'log in again' },
  { verb: 'help', text: 'list the commands' },
  { verb: 'quit', words: ['quit', 'exit'], text: 'leave the desk' },
] as const;

const listCommandWords = (command: (typeof commands)[number]): readonly string[] =>
  'words' in command ? command.words : [command.verb];

const QUITS: LinearInput = { is: 'command', command: 'quit', rest: '' };

/** Keys of the full-screen desk that appear in hints and have no command. */
const turns = ['tab-next', 'tab-before'] as const;

export type LinearCommand = (typeof commands)[number]['verb'] | (typeof turns)[number];

export type LinearInput =
  | { is: 'nothing' }
  | { is: 'number'; number: number }
  | { is: 'screen'; root: Root; rest: string }
  | { is: 'command'; command: LinearCommand; rest: string }
  | { is: 'tab'; tab: number }
  /**
   * Verb of the page. `rest` is the number or name of the row; empty for the open or selected one.
   */
  | { is: 'act'; verb: ActVerb; rest: string }
  | { is: 'verb'; name: string; rest: string }
  | { is: 'unknown'; word: string };

/** Tries the verbs of the page first, then the commands, then the keys of the full-screen desk. */
export const parseLinearInput = (
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
  const command = commands.find((each) => listCommandWords(each).includes(name))?.verb;
  if (command) return { is: 'command', command, rest };
  const root = roots.find((each) => each === name);
  if (root) return { is: 'screen', root, rest };
  const tab = page.tabs.findIndex((each) => each.toLowerCase() === name);
  if (tab >= 0) return { is: 'tab', tab };
  return byKey(page, word, rest);
};

/** The longest phrase wins: `mark all read` is not `mark`. */
const actIn = (page: ScreenPage, line: string): { verb: ActVerb; rest: string } | null => {
  const lower = line.toLowerCase();
  const phrases = pageActKeys(page.name)
    .flatMap(({ verb, text }) => [verb, ...text.split(', ')].map((phrase) => ({ verb, phrase })))
    .filter(({ phrase }) => lower === phrase || lower.startsWith(`${phrase} `))
    .sort((a, b) => b.phrase.length - a.phrase.length);
  const [found] = phrases;
  return found ? { verb: found.verb, rest: line.slice(found.phrase.length).trim() } : null;
};

/** The keys in hints and help also work when typed as a word. */
const byKey = (page: ScreenPage, word: string, rest: string): LinearInput => {
  const verb = actForKey(page.name, word);
  if (verb) return { is: 'act', verb, rest };
  const move = moveForKey(word);
  const command = [...commands.map((each) => each.verb), ...turns].find((each) => each === move);
  if (command) return { is: 'command', command, rest };
  return { is: 'unknown', word };
};

export const helpLines = (page: ScreenPage): string[] => [
  `Here: ${
    pageActKeys(page.name)
      .map(({ text, key }) => `${text} (${key})`)
      .join(', ') || 'no verbs'
  }.`,
  ...(page.glossary ?? []).map(([word, text]) => `${word}: ${text}.`),
  `Screens: ${roots.join(', ')}. Add a number or a name to open a row: approvals 3.`,
  ...commands.map((each) => `${listCommandWords(each).join(' or ')}: ${each.text}.`),
  'Enter alone pauses or resumes live output. It never confirms.',
  'A verb acts on the open object. Add a number to act on a row: disable 2.',
  'See also: adjutant help accessibility',
];
