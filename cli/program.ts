import { Command as Commander, Option } from 'commander';
import { nearest } from '../src/kernel/nearest.js';
import type { CliCommand, CommandGroup, Context, Flag } from './command.js';
import { type CommandEntry, entriesBelow, entryNames, findCommandEntry } from './entries.js';
import { usageFault } from './exit.js';
import { dashed, placeholder, type RequestField, typedValue } from './fields.js';
import { commandHelp, groupHelp } from './help.js';
import type { CommonFlags } from './invocation.js';

/** Aliases of the five standard verbs. */
const ALIASES: Record<string, string> = {
  list: 'ls',
  get: 'show',
  create: 'add',
  update: 'edit',
  delete: 'rm',
};

/** Splits a command line into the words of the command and the common flags. */
export const readCommon = (words: string[]): { operands: string[]; flags: CommonFlags } => {
  const program = root();
  const { operands } = program.parseOptions(words);
  return { operands, flags: program.opts() };
};

export const commonOptions = (): readonly Option[] => root().options;

/**
 * The flags that mean the same for every command. No field of a contract may have such a name: an
 * address in a request would be taken for that of the daemon.
 */
export const reservedNames = (): string[] => [
  ...commonOptions().map(({ long }) => (long ?? '').replace(/^--(no-)?/, '')),
  'data',
  'help',
];

/** The named command, or the group whose verb is missing. */
export interface ChosenCommand {
  entry: CommandEntry;
  group?: CommandGroup;
  command?: CliCommand;
}

export const chooseCommand = async (words: string[]): Promise<ChosenCommand> => {
  const entry = findCommandEntry(words);
  if (!entry) throw await unknownWord(words[0] ?? '');
  const second = words[splitEntryName(entry).length];
  const loaded = await entry.load();
  if (!('commands' in loaded)) return { entry, command: loaded };
  if (second === undefined) return { entry, group: loaded };
  const command = loaded.commands.find((each) =>
    [each.name, ...listCommandAliases(each)].includes(second),
  );
  if (command) return { entry, group: loaded, command };
  const below = entriesBelow(entry.name).map(({ name }) => name.slice(entry.name.length + 1));
  throw unknown([entry.name, second], [...loaded.commands.map(({ name }) => name), ...below]);
};

/** `hooks create` */
export const getCommandPath = ({ entry, group, command }: ChosenCommand): string =>
  [entry.name, group && command?.name].filter(Boolean).join(' ');

/** Runs the command with its flags. Rethrows errors of commander. */
export const performCommand = async (
  chosen: ChosenCommand,
  words: string[],
  context: Context,
): Promise<void> => {
  const { entry, group, command } = chosen;
  if (!command)
    return context.out.line(
      group ? groupHelp(entry, group, entriesBelow(entry.name)).trimEnd() : '',
    );
  const program = root();
  const parent = group
    ? splitEntryName(entry).reduce((above, word) => above.command(word), program)
    : program;
  if (group && entry.alias) parent.alias(entry.alias);
  const leaf = parent.command([command.name, command.args].filter(Boolean).join(' '));
  leaf.aliases(listCommandAliases(command)).helpOption('-h, --help', 'Show this help');
  leaf.configureHelp({ formatHelp: () => commandHelp(getCommandPath(chosen), command) });
  leaf.configureOutput({ writeOut: (text) => context.out.line(text.trimEnd()) });
  const fields = usesFields(words, command) ? (command.fields?.() ?? []) : [];
  for (const option of buildOptions(command, fields)) leaf.addOption(option);
  leaf.action(() => command.run(context, commandInput(command, fields, leaf)));
  await program.parseAsync(words, { from: 'user' });
};

/** `auth passkeys` is a group of `auth`. */
const splitEntryName = ({ name }: CommandEntry): string[] => name.split(' ');

/** Creates a commander that prints no errors and never exits the process. */
const root = (): Commander =>
  new Commander('adjutant')
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .helpCommand(false)
    .helpOption(false)
    .option('--server <url>')
    .option('--server-token <token>')
    .option('--server-token-file <file>')
    .option('--home <folder>')
    .option('--json')
    .option('--output <how>')
    .option('--fields <names>')
    .option('-q, --quiet')
    .option('-y, --yes')
    .option('--no-input')
    .option('--timeout <seconds>')
    .option('--verbose');

const listCommandAliases = ({ name, aliases = [] }: CliCommand): string[] => {
  const usual = ALIASES[name];
  return usual ? [usual, ...aliases] : aliases;
};

const HELP = ['-h', '--help'];

/** Whether a typed flag is neither common nor one of the command's own. */
const usesFields = (words: string[], command: CliCommand): boolean => {
  const others = [...commonOptions(), ...buildOptions(command, [])];
  const known = [...others.flatMap(({ long, short }) => [long, short]), ...HELP];
  return words.some((word) => /^--?\w/.test(word) && !known.includes(word.split('=')[0]));
};

const buildOptions = ({ flags = {}, takesData }: CliCommand, fields: RequestField[]): Option[] => [
  ...Object.entries(flags).map(ownOption),
  ...fields.flatMap(fieldOptions),
  ...(takesData ? [new Option('--data <json>')] : []),
];

const ownOption = ([name, { value, short }]: [string, Flag<unknown>]): Option =>
  new Option([short && `${short},`, `--${dashed(name)}`, value].filter(Boolean).join(' '));

/** The short name, the long one, and `--no-…` for a switch. */
const fieldOptions = (field: RequestField): Option[] =>
  [...new Set([field.name, field.longName])].flatMap((name) => {
    const value = placeholder(field);
    if (!value) return [new Option(`--${name}`), new Option(`--no-${name}`)];
    const option = new Option(`--${name} <value>`);
    return [field.kind === 'list' ? option.argParser(collect) : option];
  });

/** A list is set by repeating its flag, or with commas. */
const collect = (typed: string, before: string[] = []): string[] => [
  ...before,
  ...typed
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== ''),
];

const commandInput = (command: CliCommand, fields: RequestField[], leaf: Commander) => {
  const typed = leaf.opts();
  const { flags = {} } = command;
  const args = leaf.registeredArguments.map((argument, at) => [
    argument.name(),
    leaf.processedArgs[at],
  ]);
  return {
    args: Object.fromEntries(args),
    flags: Object.fromEntries(
      Object.entries(flags)
        .filter((flag) => isGiven(flag, typed))
        .map(([name, flag]) => [name, flag.value ? flag.read(typed[name]) : true]),
    ),
    fields: Object.fromEntries(fields.flatMap((field) => fieldInput(field, typed))),
    data: typed.data,
  };
};

/** Whether the flag was typed. Commander stores `--no-wait` as `wait`, which is then false. */
const isGiven = (flag: [string, Flag<unknown>], typed: Record<string, unknown>): boolean => {
  const option = ownOption(flag);
  const value = typed[option.attributeName()];
  return option.negate ? value === false : value !== undefined;
};

const fieldInput = (field: RequestField, typed: Record<string, unknown>): [string, unknown][] => {
  const names = [field.name, field.longName].map((name) => new Option(`--${name}`).attributeName());
  const found = names.find((name) => typed[name] !== undefined);
  return found === undefined ? [] : [[field.path, typedValue(field, typed[found])]];
};

/** Suggests a group with a verb of that name. */
const unknownWord = async (word: string): Promise<Error> => {
  const groups = await Promise.all(
    entryNames().map(async (name) => ({
      name,
      loaded: await findCommandEntry(name.split(' '))?.load(),
    })),
  );
  const meant = groups.flatMap(({ name, loaded }) =>
    loaded && 'commands' in loaded && loaded.commands.some((each) => each.name === word)
      ? [`${name} ${word}`]
      : [],
  );
  if (meant.length !== 1) return unknown([word], entryNames());
  return usageFault(`Unknown command "${word}". Did you mean: adjutant ${meant[0]}`);
};

const unknown = (words: string[], known: string[]): Error => {
  const meant = nearest(words.at(-1) ?? '', known);
  const before = words.slice(0, -1).join(' ');
  const suggestion = ['adjutant', before, meant].filter(Boolean).join(' ');
  const question = meant ? ` Did you mean: ${suggestion}` : '';
  return usageFault(
    `Unknown command "${words.join(' ')}".${question}`,
    ...(meant ? [] : [`Available: ${known.join(', ')}`]),
  );
};
