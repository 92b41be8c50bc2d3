import type { Readable, Writable } from 'node:stream';

/** Runs commands on behalf of agents and hooks, shut off from the daemon and its machine. */
export interface Confinement {
  kind: 'bubblewrap' | 'sandbox-exec' | 'none';
  /** One line for `doctor`: what holds here, and what does not. */
  detail: string;
  /**
   * What became of the command, once it and all that it started are killed. ConfinementFailed: it
   * never began. Rejects with the signal's reason if that is aborted; then it may have begun.
   */
  run(run: ConfinedRun): Promise<ConfinedResult>;
  /** Starts a command that stays until it is killed, to speak with. Errors: ConfinementFailed. */
  hold(command: ConfinedCommand): Promise<ConfinedProcess>;
}

export interface ConfinedCommand {
  /** Program and arguments, 1 to 64, without NUL, 32 KiB together. No shell reads them. */
  argv: string[];
  /** The agent's folder, absolute: working directory, home, and all that can be written. */
  folder: string;
  /** On top of PATH, LANG and HOME. */
  env?: Record<string, string>;
  /** True opens the machine's own network, loopback and metadata addresses included. */
  network: boolean;
  /** Absolute paths beside the system that it may read: where its program lies. */
  readable?: string[];
}

export interface ConfinedRun extends ConfinedCommand {
  /** 1 to 120,000; then every process of the command is killed. */
  timeoutMs: number;
  /** Of stdout and stderr together; a command that says more is killed. */
  maxOutputBytes: number;
  signal: AbortSignal;
  /** Text for its standard input, which is empty otherwise. */
  stdin?: string;
}

export interface ConfinedResult {
  /** As the shells count: 127 not found, 128 + n ended by signal n. Null if we killed it. */
  exitCode: number | null;
  signal: string | null;
  /** UTF-8; what is not becomes U+FFFD. */
  stdout: string;
  stderr: string;
  /** There was more output than allowed, and the command was killed for it. */
  truncated: boolean;
  timedOut: boolean;
  durationMs: number;
}

/** A confined process that stays. */
export interface ConfinedProcess {
  stdin: Writable;
  stdout: Readable;
  /** Why it is gone, in words, once it and all that it started are. */
  ended: Promise<string>;
  /** Every process of the command. */
  kill(): void;
}

/** The command never began: a bad request, a missing program, or a confinement that does not hold. */
export class ConfinementFailed extends Error {
  constructor(sentence: string) {
    super(sentence);
    this.name = 'ConfinementFailed';
  }
}
