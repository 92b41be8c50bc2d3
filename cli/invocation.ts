import type { Clock } from '../src/kernel/clock.js';
import type { Deadline } from './deadline.js';

interface TerminalStream {
  isTTY?: boolean;
  columns?: number;
  rows?: number;
  hasColors?(): boolean;
}

/** The streams of the process. Tests pass their own, and a clock. */
export interface Streams {
  stdin: NodeJS.ReadableStream & TerminalStream;
  stdout: NodeJS.WritableStream & TerminalStream;
  stderr: NodeJS.WritableStream & TerminalStream;
  clock?: Clock;
}

export interface CommonFlags {
  server?: string;
  serverToken?: string;
  serverTokenFile?: string;
  /** Home of the daemon, for the commands that run one. */
  home?: string;
  json?: boolean;
  output?: string;
  fields?: string;
  quiet?: boolean;
  yes?: boolean;
  /** False with `--no-input`. */
  input?: boolean;
  /** In seconds. */
  timeout?: string;
  verbose?: boolean;
}

/** The running command, for error messages. */
export interface RunningCommand {
  /** Without arguments: `hooks create`. */
  command: string;
  /** The flag that sets a field of the request: `triggerConfig.webhookPath`. */
  flagOf(path: string): string;
  deadline?: Deadline;
  /** The list verb of its group: `list`, or `tasks`. */
  listed?: string;
  /** Names of its own flags, as typed. */
  flags?: string[];
  isSwitch?(flag: string): boolean;
}

/** The running command with the stream that `-` reads. */
export interface CommandSetting extends RunningCommand {
  stdin: NodeJS.ReadableStream;
}
