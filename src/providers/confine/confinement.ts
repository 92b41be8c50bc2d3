import type { Readable, Writable } from 'node:stream';
import { NamedError } from '../../kernel/failure.js';

/** A way to run commands for agents and hooks, isolated from the daemon and its machine. */
export interface Confinement {
  kind: 'bubblewrap' | 'sandbox-exec' | 'none';
  /** One line for `doctor`: the limits that apply here, and those that do not. */
  detail: string;
  /**
   * Runs a command, and resolves to its result when it and all processes that it started are dead.
   * Throws ConfinementFailed if it never began. Rejects with the signal's reason if that is
   * aborted; then it may have begun.
   */
  run(run: ConfinedRun): Promise<ConfinedResult>;
  /** Starts a command that runs until it is killed, with pipes to it. Throws ConfinementFailed. */
  hold(command: ConfinedCommand): Promise<ConfinedProcess>;
}

export interface ConfinedCommand {
  /** The program and its arguments, 1 to 64, without NUL, 32 KiB in total. No shell reads them. */
  argv: string[];
  /** The agent's folder, absolute: the working directory, the home, and the only writable place. */
  folder: string;
  /** Variables beside PATH, LANG and HOME. */
  env?: Record<string, string>;
  /** True to open the machine's own network, including loopback and metadata addresses. */
  network: boolean;
  /** Absolute paths that it may read beside the system, such as that of its program. */
  readable?: string[];
  /** The most bytes of memory of each of its processes, where there are limits; 2 GiB by default. */
  memoryBytes?: number;
}

export interface ConfinedRun extends ConfinedCommand {
  /** The time limit, 1 to 120,000. After it every process of the command is killed. */
  timeoutMs: number;
  /** The most bytes of stdout and stderr together. A command that writes more is killed. */
  maxOutputBytes: number;
  signal: AbortSignal;
  /** The text for its standard input, which is empty by default. */
  stdin?: string;
}

export interface ConfinedResult {
  /**
   * The exit code as shells report it: 127 not found, 128 + n ended by signal n. Null if we killed
   * it.
   */
  exitCode: number | null;
  signal: string | null;
  /** The output as UTF-8; invalid bytes become U+FFFD. */
  stdout: string;
  stderr: string;
  /** True if the command was killed because it wrote more than allowed. */
  truncated: boolean;
  timedOut: boolean;
  durationMs: number;
}

/** A confined process that runs until it is killed. */
export interface ConfinedProcess {
  stdin: Writable;
  stdout: Readable;
  /** The reason of its end, in words, once it and all processes that it started are dead. */
  ended: Promise<string>;
  /** Kills every process of the command. */
  kill(): void;
}

/**
 * The error if a command never began: a bad request, a missing program, or a confinement that
 * fails.
 */
export class ConfinementFailed extends NamedError {}
