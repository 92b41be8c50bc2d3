import { ApiError, type ProblemBody, Unreachable } from '../src/client/errors.js';
import { BadSessionFile } from '../src/client/session.js';
import { withCommands } from './text.js';

/** All exit codes. 3: a followed run waits for a person. 124: the code of timeout(1). */
export const Exit = {
  done: 0,
  failed: 1,
  usage: 2,
  waiting: 3,
  login: 4,
  late: 124,
  interrupted: 130,
};

/** Ends a command: the error, then what to do about it, line by line. */
export class CliFault extends Error {
  override name = 'CliFault';

  constructor(
    readonly exit: number,
    message: string,
    readonly next: string[] = [],
    /** Object that `--json` prints instead. */
    readonly body: Partial<ProblemBody> = {},
  ) {
    super(message);
  }

  /** Error body in the form of the API. A local fault has the status 0. */
  toJSON(): ProblemBody {
    const error = this.exit === Exit.usage ? 'Usage' : 'Failed';
    return { statusCode: 0, error, message: this.message, ...this.body };
  }
}

export const usageFault = (message: string, ...next: string[]): CliFault =>
  new CliFault(Exit.usage, message, next);
export const failed = (message: string, ...next: string[]): CliFault =>
  new CliFault(Exit.failed, message, next);
/** ^C, or the end of the input at a question. `next` says what continues. */
export const interrupted = (...next: string[]): CliFault =>
  new CliFault(Exit.interrupted, '', next);

export const timedOut = (seconds: number, by: CliFault): CliFault => {
  const next =
    by.next.length > 0
      ? by.next
      : ['The action may have completed. Check before you repeat the command.'];
  return new CliFault(Exit.late, `Not finished within ${seconds} s, the limit of --timeout.`, next);
};

/** The reply, or null if the daemon refuses it with one of the statuses. */
export const nullIfRefused = async <T>(
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
  /** Name of the flag or variable that provided the token; undefined for a stored login. */
  tokenFrom?: string;
  /** The address that ADJUTANT_TOKEN is for, if it was not sent. */
  tokenIsFor?: string;
  /** The list verb of its group. Defaults to `list`. */
  listed?: string;
  /** The flag that sets a field of the request: `triggerConfig.webhookPath`. */
  flagOf(path: string): string;
}

/** Converts an error into a fault. Returns unknown errors unchanged. */
export const toCliFault = (error: unknown, at: FaultContext): unknown => {
  if (error instanceof ApiError) return refused(error, at);
  if (error instanceof Unreachable) return unreachable(error);
  if (error instanceof BadSessionFile) return failed(error.message);
  if (error instanceof Error && error.name === 'AbortError') return interrupted();
  return error;
};

const FIRST_TIME = 'First use? Run: adjutant quickstart';

const refused = (error: ApiError, at: FaultContext): CliFault => {
  const request = error.requestId ? [`Request ${error.requestId}`] : [];
  // With a code, a password or code was wrong, and not the login.
  if (error.statusCode === 401 && error.code === undefined) {
    if (at.tokenFrom) {
      const why = `${at.tokenFrom} holds no valid token of this daemon.`;
      return new CliFault(
        Exit.login,
        why,
        ['Create a token: adjutant auth tokens create'],
        error.body,
      );
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

/** Refusals that name API fields and endpoints, by code, with commands instead. */
const TRANSLATED: Record<string, [message: string, ...next: string[]]> = {
  no_public_url: [
    'The public address is not set.',
    'Set it: adjutant tunnel setup --public-url https://hooks.example.org',
    'Or pass it once: --public-url https://hooks.example.org',
  ],
  tunnel_not_set_up: ['No tunnel is set up.', 'Set up a tunnel: adjutant tunnel setup'],
};

const unsent = ({ tokenIsFor }: FaultContext): string[] =>
  tokenIsFor === undefined
    ? []
    : [
        `ADJUTANT_TOKEN was not sent, because it is for ${tokenIsFor}.`,
        'Pass a token for another server: --server-token-file <file>',
      ];

export const fieldsFault = (
  details: { path: string; message: string }[],
  at: Pick<FaultContext, 'command' | 'flagOf'>,
  request: string[] = [],
): CliFault => {
  const rows = details.map(({ path, message }) => ({
    flag: at.flagOf(path),
    // Messages of the daemon begin with the path.
    message: withCommands(message.replace(/^"[^"]*" /, '')),
  }));
  const width = Math.max(...rows.map(({ flag }) => flag.length));
  const count = rows.length === 1 ? 'one field is invalid' : `${rows.length} fields are invalid`;
  const next = [
    ...rows.map(({ flag, message }) => `  ${flag.padEnd(width)}  ${message}`),
    [...request, `Help: adjutant ${at.command} --help`].join('. '),
  ];
  return new CliFault(Exit.usage, `Invalid request: ${count}.`, next, { details });
};

/** Codes for a missing setting. A retry does not help. */
const LASTING: ReadonlySet<string | undefined> = new Set(['no_embedder', 'no_search_provider']);

const remedy = (
  { statusCode, message, code }: ApiError,
  { command, listed = 'list' }: FaultContext,
): string[] => {
  const resource = command.split(' ').slice(0, -1).join(' ') || command;
  if (statusCode === 404 && command === 'api') return ['API reference: /swagger in a browser'];
  // Only a command with verbs has a list.
  if (statusCode === 404 && resource === command) return [];
  if (statusCode === 404) return [`List them: adjutant ${resource} ${listed}`];
  if (statusCode === 403 && !command.startsWith('register')) {
    return ['Check your account: adjutant whoami'];
  }
  if (code === 'mail_unreachable') return ['Check the mail account: adjutant email accounts list'];
  if (statusCode === 501) return ['Commands: adjutant help. API reference: /swagger in a browser'];
  if (LASTING.has(code)) return [];
  if (statusCode === 429 || statusCode === 503) {
    return /try again|make room/i.test(message) ? [] : ['Try again in a few seconds.'];
  }
  if (statusCode >= 500) return ['Find the reason in the log: adjutant logs'];
  return [];
};

const unreachable = (error: Unreachable): CliFault =>
  error.mayHaveActed
    ? failed(
        `${error.message}.`,
        'The action may have completed. Check before you repeat the command.',
      )
    : failed(
        `${error.message}.`,
        'Start the daemon: adjutant up        Another address: adjutant --server … or ' +
          'ADJUTANT_URL',
      );

const sentence = (message: string): string => (/[.!?]$/.test(message) ? message : `${message}.`);
