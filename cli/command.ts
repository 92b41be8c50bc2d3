import type { Client, Endpoint, EndpointName } from '../src/client/index.js';
import { requireAdjutant } from '../src/client/requireadjutant.js';
import { type FetchLike, send } from '../src/client/send.js';
import { clientEnvironment, environmentToken, readSession } from '../src/client/session.js';
import { type Clock, systemClock } from '../src/kernel/clock.js';
import { normalizeUrl } from '../src/kernel/contract/url.js';
import { Ask } from './ask.js';
import { resolveDaemonUrl } from './daemon/environment.js';
import { Exit, usageFault } from './exit.js';
import type { ArgsOf, RequestField } from './fields.js';
import type { CommandSetting, CommonFlags, RunningCommand, Streams } from './invocation.js';
import { readFlagFile } from './localfile.js';
import { CliOutput } from './output.js';
import { traced, withProgress } from './progress.js';

/** A flag of one command. Flags that mirror the contract are fields. */
export interface Flag<T> {
  /** `<file>`. A flag without a value is a switch. */
  value?: string;
  about: string;
  values?: readonly string[];
  /** `-f` */
  short?: string;
  /** Parses the value. Throws `usageFault()` to reject it. */
  read(text: string): T;
}

export const switchFlag = (about: string): Flag<boolean> => ({ about, read: () => true });
export const textFlag = (value: string, about: string): Flag<string> => ({
  value,
  about,
  read: (input) => input,
});

export type CommandFlags = Record<string, Flag<unknown>>;
type FlagsOf<F> = { [K in keyof F]?: F[K] extends Flag<infer T> ? T : never };

export interface CommandInput<A extends string, F> {
  args: ArgsOf<A>;
  flags: FlagsOf<F>;
  /** Fields that were set, by their path in the request: `actionConfig.agentPrompt`. */
  fields: Record<string, unknown>;
  /** Value of `--data`: `@file` or `-`. */
  data?: string;
}

export interface CliCommand<A extends string = string, F extends CommandFlags = CommandFlags> {
  name: string;
  aliases?: string[];
  /** Arguments in the notation of commander: `<id> [file]`. */
  args?: A;
  /** Allowed values of an argument, by its name. */
  values?: Record<string, readonly string[]>;
  /** One sentence, without a full stop. */
  summary: string;
  /** Endpoints that it calls; by name where only this would load their contract. */
  calls?: (Endpoint | EndpointName)[];
  /**
   * Examples without the path of the command, the simplest first. An example that contains
   * `adjutant` is a complete line.
   */
  examples: string[];
  flags?: F;
  /** Creates flags from the contract. Called lazily, because describing a schema takes time. */
  fields?(): RequestField[];
  /** `--data` sets the whole body; fields override it. */
  takesData?: boolean;
  notes?: string[];
  seeAlso?: string;
  run(context: Context, input: CommandInput<A, F>): Promise<void>;
}

/** Without a summary, it has that of the first endpoint it calls. */
export interface CommandDefinition<A extends string, F extends CommandFlags>
  extends Omit<CliCommand<A, F>, 'summary'> {
  summary?: string;
}

export const command = <const A extends string, F extends CommandFlags>(
  definition: CommandDefinition<A, F>,
): CliCommand<A, F> => {
  const first = definition.calls?.[0];
  const { summary = typeof first === 'object' ? first.summary : '' } = definition;
  return { ...definition, summary };
};

export const formatExamples = (
  path: string,
  { examples }: Pick<CliCommand, 'examples'>,
): string[] =>
  examples.map((example) => {
    if (LISTED.test(example)) return `adjutant ${example}`;
    return example.includes('adjutant ') ? example : `adjutant ${path} ${example}`.trimEnd();
  });

/**
 * An example that runs a command for each listed id: `tasks list --output id | xargs adjutant …`.
 */
const LISTED = /^(?!adjutant )[^|]+ --output id \| xargs /;

export interface CommandGroup {
  /** Defaults to the summary of the entry. */
  summary?: string;
  commands: CliCommand[];
  notes?: string[];
}

const GRACE_SECONDS = 5;

export class Context {
  readonly out: CliOutput;
  readonly ask: Ask;
  /** Exit code of a command that throws nothing: 1 if a check found a problem. */
  exitCode = Exit.done;
  private readonly end = new AbortController();
  private readonly interrupt = (): void => this.end.abort();
  private isListening = false;

  readonly clock: Clock;

  constructor(
    readonly streams: Streams,
    readonly flags: CommonFlags,
    private readonly place: RunningCommand,
  ) {
    this.clock = streams.clock ?? systemClock;
    this.out = new CliOutput(streams, flags);
    this.ask = new Ask(streams, flags);
  }

  /** Read lazily, because the command is chosen later. */
  get at(): CommandSetting {
    return { ...this.place, stdin: this.streams.stdin };
  }

  get url(): string {
    const url = normalizeUrl(resolveDaemonUrl(this.flags));
    if (!/^https?:\/\/[^/\s]/.test(url) || !URL.canParse(url)) {
      throw usageFault(
        `Invalid daemon address "${url}". Expected an address like http://127.0.0.1:3005`,
      );
    }
    return url.replace(/\/+$/, '');
  }

  /**
   * Returns the token from the flag, the file, the environment or the stored login: the first
   * that is for this daemon.
   */
  get token(): string | undefined {
    const { serverToken, serverTokenFile } = this.flags;
    if (serverToken) return serverToken;
    if (serverTokenFile)
      return readFlagFile('--server-token-file', serverTokenFile).toString().trim();
    // A program that passed an empty token must not act as the logged-in user.
    if (clientEnvironment().isTokenEmpty) {
      throw usageFault(
        'ADJUTANT_TOKEN is set, but empty. Unset the variable to use the stored login',
      );
    }
    return environmentToken(this.url) ?? readSession(this.url)?.token;
  }

  /** Name of the flag or variable that provides the token; undefined for a stored login or none. */
  get tokenFrom(): string | undefined {
    if (this.flags.serverToken) return '--server-token';
    if (this.flags.serverTokenFile) return '--server-token-file';
    return environmentToken(this.url) === undefined ? undefined : 'ADJUTANT_TOKEN';
  }

  /**
   * Returns the address that ADJUTANT_TOKEN is for, if the command uses another address. The
   * token is not sent there.
   */
  get tokenIsFor(): string | undefined {
    const { url, token } = clientEnvironment();
    return token !== undefined && environmentToken(this.url) === undefined ? url : undefined;
  }

  /** Loads the client on first use, so that help and commands without a daemon stay fast. */
  async client(): Promise<Client> {
    const { createClient } = await import('../src/client/index.js');
    const { url, token, signal, timeoutMs, clock } = this;
    return createClient({ url, token, signal, timeoutMs, clock, fetch: this.fetch });
  }

  /** A client for long polling: a slow reply shows no progress line. */
  async listener(): Promise<Client> {
    return (await this.client()).with({ fetch: requireAdjutant(send) });
  }

  /**
   * Aborted by the first ^C and by `--timeout`; a second ^C ends the process. If no command has
   * read this signal, the first ^C ends the process.
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

  /** Whether `--timeout` expired. A command that returns then is incomplete. */
  get isLate(): boolean {
    return this.isListening && this.place.deadline?.signal.aborted === true;
  }

  close(): void {
    process.off('SIGINT', this.interrupt);
    this.place.deadline?.signal.removeEventListener('abort', this.interrupt);
  }

  private get fetch(): FetchLike {
    const { stderr } = this.streams;
    const fetch = requireAdjutant(send);
    const shown: FetchLike = (...request) => withProgress(stderr, () => fetch(...request));
    return this.flags.verbose ? traced(shown, (line) => this.out.warn(line)) : shown;
  }

  /** Timeout of one request, longer than that of the command, which must expire first. */
  private get timeoutMs(): number | undefined {
    const seconds = this.place.deadline?.seconds;
    return seconds ? (seconds + GRACE_SECONDS) * 1000 : undefined;
  }
}
