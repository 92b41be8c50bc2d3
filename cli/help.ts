import type { Command, Flag, Group } from './command.js';
import { type Field, placeholder } from './fields.js';
import { padded, wrapped } from './text.js';

const COMMON = [
  '--json, --output table|tsv|json|id, --fields a,b',
  '--url, --token-file, --timeout, --yes, --no-input, --quiet, --verbose, --home',
];

const WIDTH = 76;

interface Section {
  title: string;
  entries: { name: string; summary: string }[];
}

/** All commands and topics. */
export const topHelp = (sections: Section[], topics: string[]): string =>
  [
    'Adjutant: signed webhooks in, finished agent runs out.',
    '',
    'Usage: adjutant <command> [verb] [id] [flags]',
    ...sections.flatMap(({ title, entries }) =>
      section(
        `${title}:`,
        entries.map(({ name, summary }) => `${padded(name, 14)} ${summary}`),
      ),
    ),
    ...section('Topics (adjutant help <topic>):', wrapped(topics.join('  '), WIDTH)),
    '',
    'On one command: adjutant <command> --help',
  ].join('\n');

/** The help of one command: what it does, how it is called, examples before flags. */
export const commandHelp = (path: string, command: Command): string =>
  [
    `${command.summary}.`,
    '',
    `Usage: ${['adjutant', path, command.args, hasFlags(command) && '[flags]'].filter(Boolean).join(' ')}`,
    '',
    'Examples:',
    ...command.examples.map((example) => `  adjutant ${example}`),
    ...section('Flags:', flagRows(command)),
    ...section('Common:', COMMON),
    ...(command.notes ? ['', ...command.notes] : []),
    ...(command.seeAlso ? ['', `See also: ${command.seeAlso}`] : []),
    '',
  ].join('\n');

/** The verbs of a resource. */
export const groupHelp = ({ name, summary, commands, notes }: Group): string =>
  [
    `${summary}.`,
    '',
    `Usage: adjutant ${name} <verb> [id] [flags]`,
    ...section('Verbs:', twoColumns(commands.map((each) => [each.name, each.summary]))),
    ...(notes ? ['', ...notes] : []),
    '',
    `More on one: adjutant ${name} ${commands[0]?.name} --help`,
    '',
  ].join('\n');

/** Names and sentences under each other. */
export const twoColumns = (rows: [string, string][]): string[] => {
  const width = Math.min(34, Math.max(...rows.map(([name]) => name.length)));
  return rows.flatMap(([name, about]) =>
    name.length > width
      ? [name, ...(about ? [`${' '.repeat(width)}  ${about}`] : [])]
      : [`${padded(name, width)}  ${about}`.trimEnd()],
  );
};

export const dashed = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const section = (title: string, lines: string[]): string[] =>
  lines.length > 0 ? ['', title, ...lines.map((line) => `  ${line}`)] : [];

const hasFlags = ({ flags, fields, takesData }: Command): boolean =>
  flags !== undefined || fields !== undefined || takesData === true;

const flagRows = ({ flags = {}, fields, takesData }: Command): string[] => {
  const rows: [string, string][] = [
    ...Object.entries(flags).map(ownRow),
    ...(fields?.() ?? []).map(fieldRow),
    ...dataRow(takesData),
  ];
  return rows.length > 0 ? twoColumns(rows) : [];
};

const dataRow = (takesData = false): [string, string][] =>
  takesData ? [['--data <@file|->', 'The whole request as JSON; other flags go over it']] : [];

const ownRow = ([name, { value, about, short }]: [string, Flag<unknown>]): [string, string] => [
  [short && `${short},`, `--${dashed(name)}`, value].filter(Boolean).join(' '),
  about,
];

const fieldRow = (field: Field): [string, string] => {
  const value = placeholder(field);
  const flag = value ? `--${field.name} ${value}` : `--[no-]${field.name}`;
  const values = field.values.length > 0 && value === `<${field.kind}>`;
  const about = values ? `one of ${field.values.join(', ')}` : field.about;
  return [flag, [field.isNeeded && 'needed', about].filter(Boolean).join('; ')];
};
