import { readFileSync } from 'node:fs';
import type { Client, Endpoint, EndpointName } from '../src/client/index.js';
import { recognized } from '../src/client/recognize.js';
import { type FetchLike, send } from '../src/client/send.js';
import { clientEnvironment, environmentToken, readSession } from '../src/client/session.js';
import { Ask } from './ask.js';
import { addressOf } from './daemon/environment.js';
import type { Deadline } from './deadline.js';
import { Exit, usageFault } from './exit.js';
import type { ArgsOf, RequestField } from './fields.js';
import { CliOutput } from './output.js';
import { traced, withProgress } from './progress.js';

/** A flag of a command's own; those that follow from the contract are fields. */
export interface Flag<T> {
  /** `<file>`; a flag without one is on or off. */
  value?: string;
  about: string;
  /** The allowed values. */
  values?: readonly string[];
  /** `-f` */
  short?: string;
  /** Parses the value; throws usageFault() if it is not accepted. */
  read(text: string): T;
}

export const on = (about: string): Flag<boolean> => ({ about, read: () => true });
export const textFlag = (value: string, about: string): Flag<string> => ({
  value,
  about,
  read: (given) => given,
});

export type CommandFlags = Record<string, Flag<unknown>>;
type FlagsOf<F> = { [K in keyof F]?: F[K] extends Flag<infer T> ? T : never };

/** Input of a command: everything typed behind its name. */
export interface CommandInput<A extends string, F> {
  args: ArgsOf<A>;
  flags: FlagsOf<F>;
  /** The fields that were set, by their path in the request: `actionConfig.agentPrompt`. */
  fields: Record<string, unknown>;
  /** Value of `--data`: `@file` or `-`. */
  data?: string;
}

/** One command, as plain data and a function. */
export interface CliCommand<A extends string = string, F extends CommandFlags = CommandFlags> {
  name: string;
  aliases?: string[];
  /** The arguments as commander writes them: `<id> [file]`. */
  args?: A;
  /** The allowed values of an argument, by its name. */
  values?: Record<string, readonly string[]>;
  /** One sentence, without a full stop. */
  summary: string;
  /** The endpoints that it calls; by name where only this would load their contract. */
  calls?: (Endpoint | EndpointName)[];
  /**
   * Examples without the command's path, the simplest first. One that contains `adjutant` is a
   * complete line.
   */
  examples: string[];
  flags?: F;
  /**
   * Makes the flags from the contract. Called only when needed, since describing a schema takes
   * time.
   */
  fields?(): RequestField[];
  /** `--data` gives the whole body, and the fields override it. */
  takesData?: boolean;
  /** Further lines of its help. */
  notes?: string[];
  seeAlso?: string;
  run(context: Context, given: CommandInput<A, F>): Promise<void>;
}

/** A command as it is written: without a summary it has that of the first endpoint it calls. */
export interface CommandDefinition<A extends string, F extends CommandFlags>
  extends Omit<CliCommand<A, F>, 'summary'> {
  summary?: string;
}

/** Keeps the types of a command's arguments and flags. */
export const command = <const A extends string, F extends CommandFlags>(
  definition: CommandDefinition<A, F>,
): CliCommand<A, F> => {
  const first = definition.calls?.[0];
  const { summary = typeof first === 'object' ? first.summary : '' } = definition;
  return { ...definition, summary };
};

/** The examples of a command as complete lines of a shell. */
export const examplesOf = (path: string, { examples }: Pick<CliCommand, 'examples'>): string[] =>
  examples.map((example) => {
    if (LISTED.test(example)) return `adjutant ${example}`;
    return example.includes('adjutant ') ? example : `adjutant ${path} ${example}`.trimEnd();
  });

/** The example that has a list done one by one: `tasks list --output id | xargs adjutant …`. */
const LISTED = /^(?!adjutant )[^|]+ --output id \| xargs /;

/** Commands about one resource, under the name of their entry. */
export interface CommandGroup {
  /** The summary; that of the entry unless given. */
  summary?: string;
  commands: CliCommand[];
  /** Lines below its list of commands. */
  notes?: string[];
}

interface TerminalStream {
  isTTY?: boolean;
  columns?: number;
  rows?: number;
  hasColors?(): boolean;
}

/** The streams of the process; tests give their own. */
export interface Streams {
  stdin: NodeJS.ReadableStream & TerminalStream;
  stdout: NodeJS.WritableStream & TerminalStream;
  stderr: NodeJS.WritableStream & TerminalStream;
}

/** The flags that every command takes. */
export interface CommonFlags {
  server?: string;
  serverToken?: string;
  serverTokenFile?: string;
  /** Folder of the daemon, for the commands that run one. */
  home?: string;
  json?: boolean;
  output?: string;
  fields?: string;
  quiet?: boolean;
  yes?: boolean;
  /** False with `--no-input`. */
  input?: boolean;
  /** Seconds that the command may take. */
  timeout?: string;
  verbose?: boolean;
}

/** The command that runs, for the words of its errors. */
export interface RunningCommand {
  /** Without arguments: `hooks create`. */
  command: string;
  /** The flag that sets a field of the request: `triggerConfig.webhookPath`. */
  flagOf(path: string): string;
  /** The deadline of `--timeout`, for the command and those that it runs. */
  deadline?: Deadline;
  /** The verb of its group that lists: `list`, or `tasks`. */
  listed?: string;
  /** Names of the command's own flags, as they are typed. */
  flags?: string[];
  /** True for a flag of the command that is on or off. */
  isSwitch?(flag: string): boolean;
}

/** The running command with the stream that `-` reads. */
export interface CommandSetting extends RunningCommand {
  stdin: NodeJS.ReadableStream;
}

const GRACE_SECONDS = 5;

/** Every command's surroundings: the client, the output, the questions. */
export class Context {
  readonly out: CliOutput;
  readonly ask: Ask;
  /** Exit code of a command that threw nothing: 1 where a check found something wrong. */
  exitCode = Exit.done;
  private readonly end = new AbortController();
  private readonly interrupt = (): void => this.end.abort();
  private isListening = false;

  constructor(
    readonly streams: Streams,
    readonly flags: CommonFlags,
    private readonly place: RunningCommand,
  ) {
    this.out = new CliOutput(streams, flags);
    this.ask = new Ask(streams, flags);
  }

  /** The running command, for its errors. It is read late, when the command is chosen. */
  get at(): CommandSetting {
    return { ...this.place, stdin: this.streams.stdin };
  }

  /** Address of the daemon. Usage: not an http address. */
  get url(): string {
    const url = addressOf(this.flags);
    if (!/^https?:\/\/[^/\s]/.test(url) || !URL.canParse(url)) {
      throw usageFault(`"${url}" is no address. One looks like http://127.0.0.1:3005`);
    }
    return url.replace(/\/+$/, '');
  }

  /**
   * Returns the token: from the flag, the file, the environment or the kept login, the first that
   * is for this daemon.
   */
  get token(): string | undefined {
    const { serverToken, serverTokenFile } = this.flags;
    if (serverToken) return serverToken;
    if (serverTokenFile) return tokenIn(serverTokenFile);
    // A program that gave no token must not act as whoever is logged in.
    if (clientEnvironment().isTokenEmpty) {
      throw usageFault(
        'ADJUTANT_TOKEN is set, and empty. Unset it to use the login of this machine',
      );
    }
    return environmentToken(this.url) ?? readSession(this.url)?.token;
  }

  /** Name of the flag or variable that gives the token; undefined: a kept login, or none. */
  get tokenFrom(): string | undefined {
    if (this.flags.serverToken) return '--server-token';
    if (this.flags.serverTokenFile) return '--server-token-file';
    return environmentToken(this.url) === undefined ? undefined : 'ADJUTANT_TOKEN';
  }

  /**
   * Returns the address that ADJUTANT_TOKEN is for, if the command asks another one. The token is
   * not sent there.
   */
  get tokenIsFor(): string | undefined {
    const { url, token } = clientEnvironment();
    return token !== undefined && environmentToken(this.url) === undefined ? url : undefined;
  }

  /**
   * Opens the client. It is loaded on first use, so that help and commands without a daemon stay
   * quick.
   */
  async client(): Promise<Client> {
    const { createClient } = await import('../src/client/index.js');
    const { url, token, signal, timeoutMs } = this;
    return createClient({ url, token, signal, timeoutMs, fetch: this.fetch });
  }

  /** Opens a client for requests that wait for events; a long one is no sign of trouble. */
  async listener(): Promise<Client> {
    return (await this.client()).with({ fetch: recognized(send) });
  }

  /**
   * Aborted by the first ^C and by `--timeout`; a second ^C ends the process. ^C ends the process
   * at once if no command has read this signal.
   */
  get signal(): AbortSignal {
    if (this.isListening) return this.end.signal;
    this.isListening = true;
    process.once('SIGINT', this.interrupt);
    const over = this.place.deadline?.signal;
    if (over?.aborted) this.interrupt();
    over?.addEventListener('abort', this.interrupt, { once: true });
    return this.end.signal;
  }

  /**
   * True if the time of `--timeout` was over: a command that then returns has not done everything.
   */
  get isLate(): boolean {
    return this.isListening && this.place.deadline?.signal.aborted === true;
  }

  /** The command has ended. */
  close(): void {
    process.off('SIGINT', this.interrupt);
    this.place.deadline?.signal.removeEventListener('abort', this.interrupt);
  }

  private get fetch(): FetchLike {
    const { stderr } = this.streams;
    const fetch = recognized(send);
    const shown: FetchLike = (...request) => withProgress(stderr, () => fetch(...request));
    return this.flags.verbose ? traced(shown, (line) => this.out.warn(line)) : shown;
  }

  /** The timeout of one request: longer than that of the command, which ends first. */
  private get timeoutMs(): number | undefined {
    const seconds = this.place.deadline?.seconds;
    return seconds ? (seconds + GRACE_SECONDS) * 1000 : undefined;
  }
}

const tokenIn = (file: string): string => {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    throw usageFault(`--server-token-file names a file that cannot be read: ${file}`);
  }
};
