import { computeTextWidth } from '../src/kernel/width.js';
import { type CliCommand, type CommandGroup, type Flag, formatExamples } from './command.js';
import { dashed, placeholder, type RequestField } from './fields.js';
import { padded, wrapped } from './text.js';

const COMMON = [
  '--json, --output table|tsv|json|id, --fields a,b',
  '--server, --server-token-file, --timeout, --yes, --no-input, --quiet,',
  '--verbose, --home',
];

/** Columns of help text on a terminal of 80, without the indent. */
const WIDTH = 78;

interface Summary {
  name: string;
  summary: string;
}

interface Section {
  title: string;
  entries: Summary[];
}

export const topHelp = (sections: Section[], topics: string[]): string => {
  const rowsOf = ({ entries }: Section) =>
    entries.map(({ name, summary }): HelpRow => [name, summary]);
  const width = widest(sections.flatMap(rowsOf));
  return [
    'Adjutant: signed webhooks in, finished agent runs out.',
    '',
    'Usage: adjutant <command> [verb] [id] [flags]',
    ...sections.flatMap((each) => section(`${each.title}:`, twoColumns(rowsOf(each), width))),
    ...section('Topics (adjutant help <topic>):', wrapped(topics.join('  '), WIDTH)),
    '',
    'Help on a command: adjutant <command> --help',
  ].join('\n');
};

export const commandHelp = (path: string, command: CliCommand): string =>
  [
    ...wrapped(`${command.summary}.`, WIDTH),
    '',
    `Usage: ${['adjutant', path, command.args, hasFlags(command) && '[flags]'].filter(Boolean).join(' ')}`,
    '',
    'Examples:',
    ...formatExamples(path, command)
      .flatMap(exampleLines)
      .map((line) => `  ${line}`),
    ...section('Flags:', flagRows(command)),
    ...section('Common:', COMMON),
    ...paragraphs(command.notes),
    ...(command.seeAlso ? ['', `See also: ${command.seeAlso}`] : []),
    '',
  ].join('\n');

export const groupHelp = (
  entry: Summary,
  { summary, commands, notes }: CommandGroup,
  below: Summary[],
): string =>
  [
    `${summary ?? entry.summary}.`,
    '',
    `Usage: adjutant ${entry.name} <verb> [id] [flags]`,
    ...section('Verbs:', twoColumns(commands.map((each) => [each.name, each.summary]))),
    ...section('Also:', twoColumns(below.map((each) => [each.name, each.summary]))),
    ...paragraphs(notes),
    '',
    `Help on a verb: adjutant ${entry.name} ${commands[0]?.name} --help`,
    '',
  ].join('\n');

type HelpRow = [name: string, about: string];

const widest = (rows: HelpRow[]): number =>
  Math.min(34, Math.max(...rows.map(([name]) => name.length)));

/** Names and texts in two aligned columns. */
export const twoColumns = (rows: HelpRow[], width = widest(rows)): string[] =>
  rows.flatMap(([name, about]) => {
    const isLong = name.length > width;
    const lines = about === '' && isLong ? [] : wrapped(about, WIDTH - width - 2);
    const heads = isLong ? [] : [name];
    return [
      ...(isLong ? [name] : []),
      ...lines.map((line, at) => `${padded(heads[at] ?? '', width)}  ${line}`.trimEnd()),
    ];
  });

/** A line to paste, continued on further lines if it is long. */
const exampleLines = (example: string): string[] => {
  const words = example.match(WORDS) ?? [];
  return words.reduce<string[]>((lines, word) => {
    const last = lines.at(-1);
    if (last === undefined) return [word];
    const isLong = computeTextWidth(`${last} ${word}`) > WIDTH - ' \\'.length;
    return isLong
      ? [...lines.slice(0, -1), `${last} \\`, `    ${word}`]
      : [...lines.slice(0, -1), `${last} ${word}`];
  }, []);
};

/** Matches one word of a shell. */
const WORDS = /(?:'[^']*'|"[^"]*"|[^\s'"])+/g;

const paragraphs = (notes: string[] = []): string[] =>
  notes.length > 0 ? ['', ...notes.flatMap((note) => wrapped(note, WIDTH))] : [];

const section = (title: string, lines: string[]): string[] =>
  lines.length > 0 ? ['', title, ...lines.map((line) => `  ${line}`)] : [];

const hasFlags = ({ flags, fields, takesData }: CliCommand): boolean =>
  flags !== undefined || fields !== undefined || takesData === true;

const flagRows = ({ flags = {}, fields, takesData }: CliCommand): string[] => {
  const rows: HelpRow[] = [
    ...Object.entries(flags).map(ownRow),
    ...(fields?.() ?? []).map(fieldRow),
    ...dataRow(takesData),
  ];
  return rows.length > 0 ? twoColumns(rows) : [];
};

const dataRow = (takesData = false): HelpRow[] =>
  takesData
    ? [['--data <@file|->', 'Whole request as JSON. Other flags override single fields']]
    : [];

const ownRow = ([name, { value, about, short }]: [string, Flag<unknown>]): HelpRow => [
  [short && `${short},`, `--${dashed(name)}`, value].filter(Boolean).join(' '),
  about,
];

const fieldRow = (field: RequestField): HelpRow => {
  const value = placeholder(field);
  const flag = value ? `--${field.name} ${value}` : `--[no-]${field.name}`;
  const values = field.values.length > 0 && value?.startsWith(`<${field.kind}`) === true;
  const about = values ? `one of ${field.values.join(', ')}` : field.about;
  return [flag, [field.isNeeded && 'required', about].filter(Boolean).join('; ')];
};
