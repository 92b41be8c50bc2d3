import type { CliCommand } from '../command.js';
import { type CommonFlags, Context, type Streams } from '../context.js';
import { entryNames } from '../entries.js';
import { dashed } from '../help.js';
import { FORMATS } from '../output.js';
import { type ChosenCommand, chooseCommand, commonOptions, readCommon } from '../program.js';
import { oneLine } from '../text.js';
import { topics } from '../topics.js';
import type { CompletionCandidate, Fitting } from './names.js';
import { namesOfKind } from './names.js';

/** A flag, as far as completion goes. */
interface CompletionFlag {
  names: string[];
  about?: string;
  /** Placeholder of its value: `<a|b>`, `<file>`; undefined for one that is on or off. */
  value?: string;
  values?: readonly string[];
}

/** Answers a shell that completes; says nothing at all where anything goes wrong. */
export const writeCandidates = async (words: string[], streams: Streams): Promise<void> => {
  const lines = await candidates(words, streams).then(candidateLines, () => []);
  for (const line of lines) streams.stdout.write(`${line}\n`);
};

const candidateLines = (fitting: Fitting): string[] =>
  fitting === 'files'
    ? [':files']
    : fitting.map(({ word, about }) => (about ? `${word}\t${oneLine(about)}` : word));

/** Candidates for the last word; the first word is the first behind `adjutant`. */
export const candidates = async (words: string[], streams: Streams): Promise<Fitting> => {
  const current = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  const open = common().find((flag) => flag.value && flag.names.includes(before.at(-1) ?? ''));
  const fitting = open ? valuesOf(open) : await within(before, current, streams);
  if (fitting === 'files') return fitting;
  return fitting.filter(({ word }) => word.startsWith(current));
};

const within = async (before: string[], current: string, streams: Streams): Promise<Fitting> => {
  const { operands, flags } = readCommon(before);
  const [first] = operands;
  if (first === undefined) return current.startsWith('-') ? flagNames(common()) : firstWords();
  if (first === 'help') return helpWords(operands.slice(1));
  const chosen = await chooseCommand(operands);
  const { command } = chosen;
  const known = [...common(), ...(command ? flagsOf(command) : [])];
  const open = known.find((flag) => flag.value && flag.names.includes(before.at(-1) ?? ''));
  if (open) return valuesOf(open);
  if (current.startsWith('-')) return flagNames(known);
  if (!command) return verbsOf(chosen);
  return argument({ command, at: argsIn(before, known) - depthOf(chosen), flags, streams });
};

/** `auth` is followed by verbs of its own and by groups below it. */
const verbsOf = ({ entry, group }: ChosenCommand): CompletionCandidate[] => [
  ...(group?.commands ?? []).map(({ name, summary }) => ({ word: name, about: summary })),
  ...entryNames()
    .filter((name) => name.startsWith(`${entry.name} `))
    .map((name) => ({ word: name.slice(entry.name.length + 1) })),
];

const depthOf = ({ entry, group }: ChosenCommand): number =>
  entry.name.split(' ').length + (group ? 1 : 0);

const firstWords = (): CompletionCandidate[] =>
  entryNames()
    .filter((name) => !name.includes(' '))
    .map((word) => ({ word }));

const helpWords = async ([first, ...rest]: string[]): Promise<CompletionCandidate[]> => {
  const own = [...Object.keys(topics), 'environment'];
  if (first === undefined) return [...firstWords(), ...own.map((word) => ({ word }))];
  const chosen = await chooseCommand([first, ...rest]);
  return chosen.command ? [] : verbsOf(chosen);
};

interface ArgumentPosition {
  command: CliCommand;
  /** Position among its arguments, from 0. */
  at: number;
  flags: CommonFlags;
  streams: Streams;
}

const argument = async ({ command, at, flags, streams }: ArgumentPosition): Promise<Fitting> => {
  const name = /\w[\w|]*/.exec(command.args?.split(' ')[at] ?? '')?.[0];
  if (name === undefined) return [];
  const values = command.values?.[name] ?? (name.includes('|') ? name.split('|') : undefined);
  if (values) return values.map((word) => ({ word }));
  if (name === 'file' || name === 'payload') return 'files';
  const context = new Context(streams, flags, { command: '', flagOf: (path) => path });
  return namesOfKind(name, context);
};

/** Counts the words that are neither flags nor values of flags. */
const argsIn = (words: string[], known: CompletionFlag[]): number =>
  words.filter((word, at) => {
    const previous = words[at - 1] ?? '';
    const isValue = known.some(({ names, value }) => value && names.includes(previous));
    return !isValue && (!word.startsWith('-') || word === '-');
  }).length;

const flagNames = (known: CompletionFlag[]): CompletionCandidate[] =>
  known.flatMap(({ names, about }) => names.map((word) => ({ word, about })));

const valuesOf = ({ value = '', values }: CompletionFlag): Fitting => {
  if (values && values.length > 0) return values.map((word) => ({ word }));
  const inside = value.replace(/[<>…]/g, '');
  if (/^(@?file|folder|json)\b/.test(inside)) return 'files';
  return inside.includes('|') ? inside.split('|').map((word) => ({ word })) : [];
};

const common = (): CompletionFlag[] => [
  ...commonOptions().map(({ long, required }) => ({
    names: [long ?? ''],
    value: required ? (FILES.includes(long ?? '') ? '<file>' : '<text>') : undefined,
    values: long === '--output' ? FORMATS : undefined,
  })),
  { names: ['--help'] },
];
const FILES = ['--server-token-file', '--home'];

const flagsOf = ({ flags = {}, fields, takesData }: CliCommand): CompletionFlag[] => [
  ...Object.entries(flags).map(([name, { value, about, values }]) => ({
    names: [`--${dashed(name)}`],
    about,
    value,
    values,
  })),
  ...(fields?.() ?? []).map(({ name, kind, about, values }) => ({
    names: kind === 'flag' ? [`--${name}`, `--no-${name}`] : [`--${name}`],
    about,
    value: kind === 'flag' ? undefined : '<value>',
    values,
  })),
  ...(takesData ? [{ names: ['--data'], value: '<json>' }] : []),
];
