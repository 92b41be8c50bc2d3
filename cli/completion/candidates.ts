import { createHash } from 'node:crypto';
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { contracts, Endpoint } from '../../src/client/index.js';
import { send } from '../../src/client/send.js';
import { cacheFolder } from '../../src/client/session.js';
import { makePrivateFolder } from '../../src/kernel/private.js';
import { valueAt } from '../columns.js';
import { type CliCommand, Context } from '../command.js';
import { entryNames } from '../entries.js';
import { dashed } from '../fields.js';
import type { CommonFlags, Streams } from '../invocation.js';
import { FORMATS } from '../output.js';
import { type ChosenCommand, chooseCommand, commonOptions, readCommon } from '../program.js';
import { kindOfField } from '../references.js';
import { now, oneLine } from '../text.js';
import { TOPICS } from '../topics.js';

export interface CompletionCandidate {
  word: string;
  about?: string;
}

/** The matching words, or that a path matches. */
export type CompletionMatches = CompletionCandidate[] | 'files';

/** Resources whose list completes an argument, and the field that holds the name. */
const LISTS: Record<string, { resource: keyof typeof contracts; name?: string }> = {
  hook: { resource: 'hooks', name: 'name' },
  agent: { resource: 'agents', name: 'name' },
  model: { resource: 'models', name: 'name' },
  expert: { resource: 'experts', name: 'name' },
  skill: { resource: 'skills', name: 'name' },
  webhook: { resource: 'webhooks', name: 'name' },
  credential: { resource: 'vault', name: 'name' },
  session: { resource: 'sessions' },
  approval: { resource: 'approvals' },
  notification: { resource: 'notifications' },
  channel: { resource: 'channels' },
  user: { resource: 'users', name: 'username' },
  token: { resource: 'tokens', name: 'name' },
  org: { resource: 'orgs', name: 'slug' },
};

const LIMIT_MS = 300;
/** Names that a shell need not quote. Other rows are offered by the end of their id. */
const PLAIN = /^[\w.@/+][\w.@/+:-]*$/;
const ABOUT = ['title', 'summary', 'tool', 'kind', 'status', 'name'];

/** Returns none if the request takes too long or fails. */
const namesOfKind = async (kind: string, context: Context): Promise<CompletionCandidate[]> => {
  const list = LISTS[kind];
  if (!list) return [];
  const { url, token = '' } = context;
  const text = await cached([url, token, kind], async () => {
    const { contracts } = await import('../../src/client/index.js');
    const endpoints: Record<string, Endpoint> = await contracts[list.resource]();
    const path = `${endpoints.list?.path}?limit=200`;
    // Loaded before the time limit starts.
    const client = (await context.client()).with({
      fetch: send,
      signal: context.clock.deadline(LIMIT_MS),
    });
    const { body } = await client.request<object>({ method: 'GET', path, isRepeatable: false });
    return JSON.stringify(candidatesIn(Object.values(body).find(Array.isArray), list.name));
  });
  const kept: CompletionCandidate[] = JSON.parse(text);
  return kept;
};

const candidatesIn = (rows: unknown, nameField?: string): CompletionCandidate[] =>
  (Array.isArray(rows) ? rows : []).flatMap((row: unknown) => {
    const [id, name] = [textAt(row, 'id'), textAt(row, nameField ?? 'id')];
    if (nameField && name && PLAIN.test(name)) return [{ word: name }];
    const about = ABOUT.map((field) => textAt(row, field)).find(Boolean);
    return id ? [{ word: id.slice(-6), about: about && oneLine(about).slice(0, 60) }] : [];
  });

const textAt = (row: unknown, field: string): string | undefined => {
  const value = valueAt(row, field);
  return typeof value === 'string' ? value : undefined;
};

const KEPT_MS = 30_000;

/** Result of `read`, cached for 30 seconds in the private cache folder of the user (XDG). */
const cached = async (of: string[], read: () => Promise<string>): Promise<string> => {
  const folder = cacheFolder();
  // A digest, because the key contains a token.
  const file = join(folder, createHash('sha256').update(of.join('\n')).digest('hex').slice(0, 32));
  const kept = fresh(file);
  if (kept !== undefined) return kept;
  const text = await read();
  makePrivateFolder(folder);
  writeFileSync(`${file}.${process.pid}`, text, { mode: 0o600 });
  renameSync(`${file}.${process.pid}`, file);
  return text;
};

const fresh = (file: string): string | undefined => {
  const stat = statSync(file, { throwIfNoEntry: false });
  const age = stat ? now() - stat.mtimeMs : KEPT_MS;
  return age >= 0 && age < KEPT_MS ? readFileSync(file, 'utf8') : undefined;
};

interface CompletionFlag {
  names: string[];
  about?: string;
  /** Placeholder of its value: `<a|b>`, `<file>`; undefined for a switch. */
  value?: string;
  values?: readonly string[];
  /** Kind of the rows that it names. */
  kind?: string;
}

/** Prints the candidates for a shell. Prints nothing if anything fails. */
export const writeCandidates = async (words: string[], streams: Streams): Promise<void> => {
  const lines = await candidates(words, streams).then(candidateLines, () => []);
  for (const line of lines) streams.stdout.write(`${line}\n`);
};

const candidateLines = (fitting: CompletionMatches): string[] =>
  fitting === 'files'
    ? [':files']
    : fitting.map(({ word, about }) => (about ? `${word}\t${oneLine(about)}` : word));

/** Candidates for the last word. `words` begins after `adjutant`. */
const candidates = async (words: string[], streams: Streams): Promise<CompletionMatches> => {
  const current = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  const open = common().find((flag) => flag.value && flag.names.includes(before.at(-1) ?? ''));
  const fitting = open ? listFlagValues(open) : await within(before, current, streams);
  if (fitting === 'files') return fitting;
  return fitting.filter(({ word }) => word.startsWith(current));
};

const within = async (
  before: string[],
  current: string,
  streams: Streams,
): Promise<CompletionMatches> => {
  const { operands, flags } = readCommon(before);
  const [first] = operands;
  if (first === undefined) return current.startsWith('-') ? flagNames(common()) : firstWords();
  if (first === 'help') return helpWords(operands.slice(1));
  const chosen = await chooseCommand(operands);
  const { command } = chosen;
  const known = [...common(), ...(command ? listCommandFlags(command, chosen.entry.name) : [])];
  const open = known.find((flag) => flag.value && flag.names.includes(before.at(-1) ?? ''));
  if (open?.kind) return namesOfKind(open.kind, contextFor(flags, streams));
  if (open) return listFlagValues(open);
  if (current.startsWith('-')) return flagNames(known);
  if (!command) return listSubcommands(chosen);
  return argument({ command, at: argsIn(before, known) - getCommandDepth(chosen), flags, streams });
};

/** `auth` has its own verbs and groups below it. */
const listSubcommands = ({ entry, group }: ChosenCommand): CompletionCandidate[] => [
  ...(group?.commands ?? []).map(({ name, summary }) => ({ word: name, about: summary })),
  ...entryNames()
    .filter((name) => name.startsWith(`${entry.name} `))
    .map((name) => ({ word: name.slice(entry.name.length + 1) })),
];

const getCommandDepth = ({ entry, group }: ChosenCommand): number =>
  entry.name.split(' ').length + (group ? 1 : 0);

const firstWords = (): CompletionCandidate[] =>
  entryNames()
    .filter((name) => !name.includes(' '))
    .map((word) => ({ word }));

const helpWords = async ([first, ...rest]: string[]): Promise<CompletionCandidate[]> => {
  const own = [...TOPICS, 'environment'];
  if (first === undefined) return [...firstWords(), ...own.map((word) => ({ word }))];
  const chosen = await chooseCommand([first, ...rest]);
  return chosen.command ? [] : listSubcommands(chosen);
};

interface ArgumentPosition {
  command: CliCommand;
  /** From 0. */
  at: number;
  flags: CommonFlags;
  streams: Streams;
}

const argument = async ({
  command,
  at,
  flags,
  streams,
}: ArgumentPosition): Promise<CompletionMatches> => {
  const name = /\w[\w|]*/.exec(command.args?.split(' ')[at] ?? '')?.[0];
  if (name === undefined) return [];
  const values = command.values?.[name] ?? (name.includes('|') ? name.split('|') : undefined);
  if (values) return values.map((word) => ({ word }));
  if (name === 'file' || name === 'payload') return 'files';
  return namesOfKind(name, contextFor(flags, streams));
};

const contextFor = (flags: CommonFlags, streams: Streams): Context =>
  new Context(streams, flags, { command: '', flagOf: (path) => path });

/** Counts the words that are neither flags nor values of flags. */
const argsIn = (words: string[], known: CompletionFlag[]): number =>
  words.filter((word, at) => {
    const previous = words[at - 1] ?? '';
    const isValue = known.some(({ names, value }) => value && names.includes(previous));
    return !isValue && (!word.startsWith('-') || word === '-');
  }).length;

const flagNames = (known: CompletionFlag[]): CompletionCandidate[] =>
  known.flatMap(({ names, about }) => names.map((word) => ({ word, about })));

const listFlagValues = ({ value = '', values }: CompletionFlag): CompletionMatches => {
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

const listCommandFlags = (
  { flags = {}, fields, takesData }: CliCommand,
  entry: string,
): CompletionFlag[] => [
  ...Object.entries(flags).map(([name, { value, about, values }]) => ({
    names: [`--${dashed(name)}`],
    about,
    value,
    values,
  })),
  ...(fields?.() ?? []).map(({ path, name, kind, about, values }) => ({
    names: kind === 'flag' ? [`--${name}`, `--no-${name}`] : [`--${name}`],
    about,
    value: kind === 'flag' ? undefined : '<value>',
    values,
    kind: kindOfField(entry.split(' ')[0] ?? '', path),
  })),
  ...(takesData ? [{ names: ['--data'], value: '<json>' }] : []),
];
