import { ApiError, type ProblemBody, Unreachable } from '../src/client/errors.js';
import { BadSessionFile } from '../src/client/session.js';
import { withCommands } from './text.js';

/**
 * The only exit codes there are; 3 is that of a followed run that waits for a person, 124 that of
 * timeout(1).
 */
export const Exit = {
  done: 0,
  failed: 1,
  usage: 2,
  waiting: 3,
  login: 4,
  late: 124,
  interrupted: 130,
};

/** Something that ends a command: what failed, then what to do about it, line by line. */
export class CliFault extends Error {
  override name = 'Fault';

  constructor(
    readonly exit: number,
    message: string,
    readonly next: string[] = [],
    /** The object that `--json` prints instead. */
    readonly body: Partial<ProblemBody> = {},
  ) {
    super(message);
  }

  /** The API's error body; a fault of this side has no status. */
  toJSON(): ProblemBody {
    const error = this.exit === Exit.usage ? 'Usage' : 'Failed';
    return { statusCode: 0, error, message: this.message, ...this.body };
  }
}

/** The fault of a command that lacks an argument, or got one that it does not take. */
export const usageFault = (message: string, ...next: string[]): CliFault =>
  new CliFault(Exit.usage, message, next);
/** The fault of a correct command that did not succeed. */
export const failed = (message: string, ...next: string[]): CliFault =>
  new CliFault(Exit.failed, message, next);
/** The fault of ^C, or of the end of the input at a question. `next` says what continues. */
export const interrupted = (...next: string[]): CliFault =>
  new CliFault(Exit.interrupted, '', next);

/** The fault of a command that was not done within the time of `--timeout`. */
export const late = (seconds: number, by: CliFault): CliFault => {
  const next = by.next.length > 0 ? by.next : ['It may have been done: look before you repeat it.'];
  return new CliFault(Exit.late, `Not done after ${seconds} s, the time of --timeout.`, next);
};

/** The reply; null where the daemon refuses it with one of those statuses. */
export const unlessRefused = async <T>(
  statuses: number[],
  reply: Promise<T>,
): Promise<T | null> => {
  try {
    return await reply;
  } catch (error) {
    if (error instanceof ApiError && statuses.includes(error.statusCode)) return null;
    throw error;
  }
};

export interface FaultContext {
  /** The command as typed, without its arguments: `hooks create`. */
  command: string;
  hadToken: boolean;
  /** Name of the flag or variable that gave the token: `ADJUTANT_TOKEN`; undefined: a kept login. */
  tokenFrom?: string;
  /** The address that ADJUTANT_TOKEN is for, where it was not sent. */
  tokenIsFor?: string;
  /** The verb of its group that lists; `list` unless given. */
  listed?: string;
  /** The flag that sets a field of the request: `triggerConfig.webhookPath`. */
  flagOf(path: string): string;
}

/** The fault that an error means for the caller; unknown errors come back as they are. */
export const faultOf = (error: unknown, at: FaultContext): unknown => {
  if (error instanceof ApiError) return refused(error, at);
  if (error instanceof Unreachable) return unreachable(error);
  if (error instanceof BadSessionFile) return failed(error.message);
  if (error instanceof Error && error.name === 'AbortError') return interrupted();
  return error;
};

const FIRST_TIME = 'The first time here: adjutant quickstart';

const refused = (error: ApiError, at: FaultContext): CliFault => {
  const request = error.requestId ? [`Request ${error.requestId}`] : [];
  // With a code it is a password or a code that was wrong, and not the login.
  if (error.statusCode === 401 && error.code === undefined) {
    if (at.tokenFrom) {
      const why = `${at.tokenFrom} holds no token of this daemon, or one that has ended.`;
      return new CliFault(Exit.login, why, ['Make one: adjutant auth tokens create'], error.body);
    }
    const why = at.hadToken ? 'Your login session has ended.' : 'Not logged in.';
    const first = at.hadToken || at.tokenIsFor !== undefined ? [] : [FIRST_TIME];
    const next = [...unsent(at), ...first];
    return new CliFault(Exit.login, `${why} Run: adjutant login`, next, error.body);
  }
  if (error.statusCode === 400 && error.details.length > 0) {
    const { message, next } = fieldsFault(error.details, at, request);
    return new CliFault(Exit.usage, message, next, error.body);
  }
  const exit = error.statusCode === 400 ? Exit.usage : Exit.failed;
  const [message, ...next] = TRANSLATED[error.code ?? ''] ?? [
    withCommands(error.message),
    ...remedy(error, at),
  ];
  return new CliFault(exit, sentence(message), [...next, ...request], error.body);
};

/** Refusals of the API that name its fields and endpoints, by their codes, as commands. */
const TRANSLATED: Record<string, [message: string, ...next: string[]]> = {
  no_public_url: [
    'The public address is not set.',
    'Set it: adjutant tunnel setup --public-url https://hooks.example.org',
    'Or give it this once: --public-url https://hooks.example.org',
  ],
  tunnel_not_set_up: ['No tunnel is set up.', 'Set one up: adjutant tunnel setup'],
};

const unsent = ({ tokenIsFor }: FaultContext): string[] =>
  tokenIsFor === undefined
    ? []
    : [
        `ADJUTANT_TOKEN was not sent: it is for ${tokenIsFor}.`,
        'A token for another server: --server-token-file <file>',
      ];

/** Lists every wrong field with its flag, and the request's id if the daemon refused it. */
export const fieldsFault = (
  details: { path: string; message: string }[],
  at: Pick<FaultContext, 'command' | 'flagOf'>,
  request: string[] = [],
): CliFault => {
  const rows = details.map(({ path, message }) => ({
    flag: at.flagOf(path),
    // The daemon's sentences begin with the path.
    message: withCommands(message.replace(/^"[^"]*" /, '')),
  }));
  const width = Math.max(...rows.map(({ flag }) => flag.length));
  const count = rows.length === 1 ? 'a field is wrong' : `${rows.length} fields are wrong`;
  const next = [
    ...rows.map(({ flag, message }) => `  ${flag.padEnd(width)}  ${message}`),
    [...request, `Help: adjutant ${at.command} --help`].join('. '),
  ];
  return new CliFault(Exit.usage, `Not accepted: ${count}.`, next, { details });
};

/** The codes of what lacks a setting, which does not pass by itself. */
const LASTING: ReadonlySet<string | undefined> = new Set(['no_embedder', 'no_search_provider']);

const remedy = (
  { statusCode, message, code }: ApiError,
  { command, listed = 'list' }: FaultContext,
): string[] => {
  const resource = command.split(' ').slice(0, -1).join(' ') || command;
  if (statusCode === 404 && command === 'api') return ['What there is: /swagger in a browser'];
  // Only a command with verbs has a list.
  if (statusCode === 404 && resource === command) return [];
  if (statusCode === 404) return [`See what there is: adjutant ${resource} ${listed}`];
  if (statusCode === 403 && !command.startsWith('register')) {
    return ['Who you are: adjutant whoami'];
  }
  if (statusCode === 501) return ['What there is: adjutant help, and /swagger in a browser'];
  if (LASTING.has(code)) return [];
  if (statusCode === 429 || statusCode === 503) {
    return /try again|make room/i.test(message) ? [] : ['Try again in a few seconds.'];
  }
  if (statusCode >= 500) return ['The reason is in the log: adjutant logs'];
  return [];
};

const unreachable = (error: Unreachable): CliFault =>
  error.mayHaveActed
    ? failed(`${error.message}.`, 'It may have been done all the same: look before you repeat it.')
    : failed(
        `${error.message}.`,
        'Start it: adjutant up        Another address: adjutant --server … or ADJUTANT_URL',
      );

const sentence = (message: string): string => (/[.!?]$/.test(message) ? message : `${message}.`);
