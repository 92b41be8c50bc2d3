import type { EditorOutcome } from '../../cli/editor.js';
import type { Client } from '../../src/client/index.js';
import type { Feed } from '../state/feed.js';
import type { LoginGiven, LoginOutcome } from '../state/login.js';
import type { DeskStore } from '../state/state.js';

/** The services that keys use besides the state. */
export interface Controller {
  client: Client;
  store: DeskStore;
  feed: Feed;
  outside: ControllerEffects;
  now(): number;
  /** User name of the stored login; null if no login is stored. */
  keptName: string | null;
  /** Logs in to the daemon, as the user who is or was logged in, if there is one. */
  logIn(given: LoginGiven): Promise<LoginOutcome>;
  /** Tries to reach the daemon now, without waiting for the next attempt. */
  tryNow(): void;
}

/** Effects on the terminal and on the process. */
export interface ControllerEffects {
  /** Copies the text to the clipboard of the terminal. The terminal does not confirm it. */
  copy(text: string): void;
  /** Runs a command of the CLI in this terminal, then returns to the desk. */
  leave(words: readonly string[]): Promise<void>;
  /** Opens the text in the user's own editor. */
  write(text: string): Promise<EditorOutcome>;
  /** Prints the lines to the plain terminal and waits for enter. */
  print(lines: readonly string[]): Promise<void>;
  redraw(): void;
  suspend(): void;
  quit(): void;
}
