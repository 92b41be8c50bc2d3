import { writeSync } from 'node:fs';
import { getSystemErrorMap } from 'node:util';
import { CommanderError } from 'commander';
import { ApiError } from '../src/client/errors.js';
import { versionIn } from '../src/client/requireadjutant.js';
import { send } from '../src/client/send.js';
import { olderDaemon, RESTART_ADVICE } from '../src/client/skew.js';
import { version } from '../src/client/version.js';
import { systemClock } from '../src/kernel/clock.js';
import { type CliCommand, type CommandGroup, Context } from './command.js';
import { bypassLocalProxy } from './daemon/environment.js';
import { createDeadline } from './deadline.js';
import { CliFault, Exit, failed, interrupted, timedOut, toCliFault, usageFault } from './exit.js';
import { dashed, flagNamer } from './fields.js';
import type { CommonFlags, RunningCommand, Streams } from './invocation.js';
import { CliOutput } from './output.js';
import { chooseCommand, getCommandPath, performCommand, readCommon } from './program.js';
import { withWholeIds } from './references.js';
import { safe, safeJson } from './text.js';

/** Runs one command line and sets the exit code. `argv` begins with node and the script. */
export const main = async (argv: string[]): Promise<void> => {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', endUnwritten);
  await bypassLocalProxy();
  process.exitCode = await run(argv.slice(2), process);
};

/** Like `main`, with other streams. Resolves to the exit code. */
export const run = async (words: string[], streams: Streams): Promise<number> => {
  // For the scripts of `adjutant completion`.
  if (words[0] === '__complete') {
    await (await import('./completion/candidates.js')).writeCandidates(words.slice(2), streams);
    return Exit.done;
  }
  const place: RunningCommand = { command: '', flagOf: (path) => path };
  let flags: CommonFlags = { json: words.includes('--json') };
  try {
    const common = readCommon(words);
    flags = common.flags;
    return await dispatch({ ...common, words, place, streams });
  } catch (error) {
    return report(error, { place, flags, streams });
  }
};

/**
 * Ends the process when its output cannot be written: silently if its reader has closed the pipe,
 * otherwise with the reason, such as a full disk.
 */
const endUnwritten = (error: NodeJS.ErrnoException): void => {
  if (error.code === 'EPIPE') process.exit(Exit.done);
  const [, reason = error.message] = getSystemErrorMap().get(error.errno ?? 0) ?? [];
  try {
    writeSync(process.stderr.fd, `Cannot write the output: ${reason}\n`);
  } catch {
    // There is no way left to report it.
  }
  process.exit(Exit.failed);
};

interface Line {
  words: string[];
  operands: string[];
  flags: CommonFlags;
  place: RunningCommand;
  streams: Streams;
}

const dispatch = async (line: Line): Promise<number> => {
  const deadline = createDeadline(line.flags.timeout, line.streams.clock ?? systemClock);
  line.place.deadline = deadline;
  try {
    return await act(line);
  } catch (error) {
    const { signal, seconds } = deadline;
    const isCut = error instanceof CliFault && error.exit === Exit.interrupted;
    throw seconds !== null && signal.aborted && isCut ? timedOut(seconds, error) : error;
  } finally {
    deadline.lift();
  }
};

const act = async ({ words, operands, flags, place, streams }: Line): Promise<number> => {
  const context = new Context(streams, flags, place);
  if (words.includes('--version')) {
    context.out.line((await import('../src/client/version.js')).version());
    return Exit.done;
  }
  const isBare = operands.length === 0;
  const chosen = await chooseCommand(isBare ? ['help'] : operands);
  place.command = getCommandPath(chosen);
  const { command, group } = chosen;
  place.listed = findWatchCommand(group);
  place.flags = Object.keys(command?.flags ?? {}).map(dashed);
  place.isSwitch = (flag) => listBooleanFlags(command).includes(flag);
  place.flagOf = (path) =>
    flagNamer(command?.fields?.() ?? [], Object.keys(command?.flags ?? {}))(path);
  if (flags.serverToken) {
    context.out.note('Other users can see --server-token in ps. Use --server-token-file instead.');
  }
  try {
    const meant = { ...chosen, command: command && withWholeIds(command, chosen.entry.name) };
    await performCommand(meant, isBare ? ['help', ...words.filter(isNoHelp)] : words, context);
    if (context.isLate) throw interrupted();
    return context.exitCode;
  } catch (error) {
    // A token file that cannot be read is another error, which must not hide this one.
    const isRefused = error instanceof ApiError;
    const { token, tokenFrom, tokenIsFor } = isRefused ? context : NO_TOKEN;
    const skewed = await skewFault(error, () => context.url);
    if (skewed) throw skewed;
    throw toCliFault(error, { ...place, hadToken: token !== undefined, tokenFrom, tokenIsFor });
  } finally {
    context.close();
  }
};

const findWatchCommand = (group: CommandGroup | undefined): string | undefined => {
  const names = group?.commands.filter(({ flags }) => flags?.watch).map(({ name }) => name) ?? [];
  return names.find((name) => name === 'list') ?? names[0];
};

const listBooleanFlags = (command: CliCommand | undefined): string[] => [
  ...Object.entries(command?.flags ?? {}).flatMap(([name, { value }]) =>
    value ? [] : [dashed(name)],
  ),
  ...(command?.fields?.() ?? []).flatMap(({ name, kind }) => (kind === 'flag' ? [name] : [])),
];

const NO_TOKEN = { token: undefined, tokenFrom: undefined, tokenIsFor: undefined };

const isNoHelp = (word: string): boolean => word !== '--help' && word !== '-h';

interface ReportContext {
  place: RunningCommand;
  flags: CommonFlags;
  streams: Streams;
}

/** Reports an error on stderr, with what to do. */
const report = (error: unknown, { place, flags, streams }: ReportContext): number => {
  if (error instanceof CommanderError) return reportMistyped(error, { place, flags, streams });
  const write = (line: string) => streams.stderr.write(`${line}\n`);
  if (!(error instanceof CliFault)) {
    write(error instanceof Error ? safe(error.stack ?? error.message) : String(error));
    write('This is a bug in Adjutant.');
    return Exit.failed;
  }
  // The terminal has echoed ^C.
  if (error.exit === Exit.interrupted && streams.stderr.isTTY) write('');
  if (flags.json || flags.output === 'json') {
    if (error.message) write(safeJson(error));
  } else {
    const out = new CliOutput(streams, flags);
    for (const line of [error.message, ...error.next]) if (line) out.warn(safe(line));
  }
  return error.exit;
};

/** Flags that other programs use for the daemon, with the ones to use here. */
const FLAG_HINTS: Record<string, string> = {
  url: 'Address of the daemon: --server <url>',
  token: 'Token for the daemon: --server-token-file <file>',
  'token-file': 'Token for the daemon: --server-token-file <file>',
};

/** A secret typed as a flag stays in the history of the shell and is visible in ps. */
const secretHint = (name: string): string =>
  `Never type a ${name} on the command line: --${name}-file <file>, or --${name}-file ` +
  '- for stdin';

interface Mistyped {
  complaint: string;
  /** Hints of commander. */
  others: string[];
  place: RunningCommand;
}

const listFlagHints = (typed: string, { complaint, others, place }: Mistyped): string[] => {
  if (place.flags?.includes(`${typed}-file`)) return [secretHint(typed)];
  if (complaint.includes('=') && place.isSwitch?.(typed)) {
    return [`The flag takes no value. Use --${typed} or --no-${typed}`];
  }
  const isPlural = others.some((line) => new RegExp(`--${typed}s\\b`).test(line));
  const meant = isPlural ? undefined : FLAG_HINTS[typed];
  return meant === undefined ? others : [meant];
};

/** Reports an error of commander, with a hint. */
const reportMistyped = (error: CommanderError, where: ReportContext): number => {
  if (error.exitCode === 0) return Exit.done;
  const complaint = error.message.replace(/^error: /, '').replace(/\.$/, '');
  const [first = '', ...others] = `${complaint[0]?.toUpperCase()}${complaint.slice(1)}`.split('\n');
  const typed = /^unknown option '--([\w-]+)/.exec(complaint)?.[1] ?? '';
  const rest = listFlagHints(typed, { complaint, others, place: where.place });
  const help = ['Help: adjutant', where.place.command, '--help'].filter(Boolean).join(' ');
  return report(usageFault(`${first}.`, ...rest, help), where);
};

const TIMEOUT_MS = 2000;

/**
 * Explains a failure that an older daemon causes: an unknown route, an unknown field, or a reply
 * that lacks something. Returns null for another reason. Never throws.
 */
const skewFault = async (error: unknown, url: () => string): Promise<CliFault | null> => {
  if (!mayBeSkewed(error)) return null;
  try {
    const signal = systemClock.deadline(TIMEOUT_MS);
    const reply = await send(`${url()}/health`, { method: 'GET', headers: {}, signal });
    const complaint = olderDaemon(versionIn(await reply.text()) ?? version(), url());
    return complaint === null ? null : failed(complaint, RESTART_ADVICE);
  } catch {
    return null;
  }
};

const mayBeSkewed = (error: unknown): boolean => {
  if (!(error instanceof ApiError)) return error instanceof TypeError;
  if (error.statusCode === 400) return error.details.length > 0;
  // A missing row is named; a missing route is not.
  return error.statusCode === 404 && error.message === 'Not Found';
};
