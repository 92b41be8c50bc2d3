import type { Command } from '../command.js';
import { type CommonFlags, Context, type Streams } from '../context.js';
import { entryNames } from '../entries.js';
import { dashed } from '../help.js';
import { FORMATS } from '../output.js';
import { type Chosen, choose, commonOptions, readCommon } from '../program.js';
import { topics } from '../topics.js';
import type { Candidate, Fitting } from './candidate.js';
import { namesOf } from './names.js';

/** A flag, as far as completion goes. */
interface Known {
  names: string[];
  about?: string;
  /** What its value is: `<a|b>`, `<file>`; undefined for one that is on or off. */
  value?: string;
  values?: readonly string[];
}

/** What fits in place of the last word; the first is the first behind `adjutant`. */
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
  const chosen = await choose(operands);
  const { command } = chosen;
  const known = [...common(), ...(command ? flagsOf(command) : [])];
  const open = known.find((flag) => flag.value && flag.names.includes(before.at(-1) ?? ''));
  if (open) return valuesOf(open);
  if (current.startsWith('-')) return flagNames(known);
  if (!command) return verbsOf(chosen);
  return argument({ command, at: argsIn(before, known) - depthOf(chosen), flags, streams });
};

/** `auth` is followed by verbs of its own and by groups below it. */
const verbsOf = ({ entry, group }: Chosen): Candidate[] => [
  ...(group?.commands ?? []).map(({ name, summary }) => ({ word: name, about: summary })),
  ...entryNames()
    .filter((name) => name.startsWith(`${entry.name} `))
    .map((name) => ({ word: name.slice(entry.name.length + 1) })),
];

const depthOf = ({ entry, group }: Chosen): number =>
  entry.name.split(' ').length + (group ? 1 : 0);

const firstWords = (): Candidate[] =>
  entryNames()
    .filter((name) => !name.includes(' '))
    .map((word) => ({ word }));

const helpWords = async ([first, ...rest]: string[]): Promise<Candidate[]> => {
  const own = [...Object.keys(topics), 'environment'];
  if (first === undefined) return [...firstWords(), ...own.map((word) => ({ word }))];
  const chosen = await choose([first, ...rest]);
  return chosen.command ? [] : verbsOf(chosen);
};

interface Place {
  command: Command;
  /** Which of its arguments, from 0. */
  at: number;
  flags: CommonFlags;
  streams: Streams;
}

const argument = async ({ command, at, flags, streams }: Place): Promise<Fitting> => {
  const name = /\w[\w|]*/.exec(command.args?.split(' ')[at] ?? '')?.[0];
  if (name === undefined) return [];
  const values = command.values?.[name] ?? (name.includes('|') ? name.split('|') : undefined);
  if (values) return values.map((word) => ({ word }));
  if (name === 'file' || name === 'payload') return 'files';
  const context = new Context(streams, flags, { command: '', flagOf: (path) => path });
  return namesOf(name, context);
};

/** How many words are no flags and no values of flags. */
const argsIn = (words: string[], known: Known[]): number =>
  words.filter((word, at) => {
    const previous = words[at - 1] ?? '';
    const isValue = known.some(({ names, value }) => value && names.includes(previous));
    return !isValue && (!word.startsWith('-') || word === '-');
  }).length;

const flagNames = (known: Known[]): Candidate[] =>
  known.flatMap(({ names, about }) => names.map((word) => ({ word, about })));

const valuesOf = ({ value = '', values }: Known): Fitting => {
  if (values && values.length > 0) return values.map((word) => ({ word }));
  const inside = value.replace(/[<>…]/g, '');
  if (/^(@?file|folder|json)\b/.test(inside)) return 'files';
  return inside.includes('|') ? inside.split('|').map((word) => ({ word })) : [];
};

const common = (): Known[] => [
  ...commonOptions().map(({ long, required }) => ({
    names: [long ?? ''],
    value: required ? (FILES.includes(long ?? '') ? '<file>' : '<text>') : undefined,
    values: long === '--output' ? FORMATS : undefined,
  })),
  { names: ['--help'] },
];
const FILES = ['--server-token-file', '--home'];

const flagsOf = ({ flags = {}, fields, takesData }: Command): Known[] => [
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
