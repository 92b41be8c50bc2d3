import type { Readable, Writable } from 'node:stream';
import { NamedError } from '../../kernel/failure.js';

export interface Confinement {
  kind: 'bubblewrap' | 'sandbox-exec' | 'none';
  /** One line for `doctor` about active and missing limits. */
  detail: string;
  /**
   * Resolves when the command and all its processes are dead. Throws ConfinementFailed if it was
   * not started. If the signal is aborted, it rejects with the reason, and the command may have
   * started.
   */
  run(run: ConfinedRun): Promise<ConfinedResult>;
  /** Starts a command that runs until it is killed, with pipes. Throws ConfinementFailed. */
  hold(command: ConfinedCommand): Promise<ConfinedProcess>;
}

export interface ConfinedCommand {
  /** Program and arguments: 1 to 64 strings without NUL, 32 KiB in total. No shell is used. */
  argv: string[];
  /** Absolute path. It is the working directory, the home and the only writable folder. */
  folder: string;
  env?: Record<string, string>;
  /** Allows the network of the machine, including loopback and metadata addresses. */
  network: boolean;
  /** Additional absolute paths that are readable. */
  readable?: string[];
  /** Maximum memory per process, in bytes, where limits are supported. Defaults to 2 GiB. */
  memoryBytes?: number;
}

export interface ConfinedRun extends ConfinedCommand {
  /** Time limit in milliseconds, 1 to 120,000. */
  timeoutMs: number;
  /** Maximum size of stdout and stderr together, in bytes. */
  maxOutputBytes: number;
  signal: AbortSignal;
  stdin?: string;
}

export interface ConfinedResult {
  /**
   * As in shells: 127 means not found, 128 + n killed by signal n. `null` if the daemon killed it.
   */
  exitCode: number | null;
  signal: string | null;
  /** UTF-8. Invalid bytes become U+FFFD. */
  stdout: string;
  stderr: string;
  /** Whether the command was killed at the output limit. */
  truncated: boolean;
  timedOut: boolean;
  durationMs: number;
}

export interface ConfinedProcess {
  stdin: Writable;
  stdout: Readable;
  /** Resolves to the reason when all processes are dead. */
  ended: Promise<string>;
  kill(): void;
}

/** The command was not started: invalid request, missing program or broken confinement. */
export class ConfinementFailed extends NamedError {}
