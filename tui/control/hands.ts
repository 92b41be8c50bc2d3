import type { EditorOutcome } from '../../cli/editor.js';
import type { Client } from '../../src/client/index.js';
import type { Feed } from '../state/feed.js';
import type { LoginGiven, LoginOutcome } from '../state/login.js';
import type { DeskStore } from '../state/state.js';

/** What keys reach beyond what is known. */
export interface Hands {
  client: Client;
  store: DeskStore;
  feed: Feed;
  outside: Outside;
  now(): number;
  /** Of the login that is kept; null: none is. */
  keptName: string | null;
  /** As the user that one is, or was. */
  logIn(given: LoginGiven): Promise<LoginOutcome>;
  /** The next try to reach the daemon is now. */
  tryNow(): void;
}

/** What belongs to the terminal and the process. */
export interface Outside {
  /** Into the clipboard of the terminal; there is no receipt. */
  copy(text: string): void;
  /** Runs the CLI in this terminal, and comes back. */
  leave(words: readonly string[]): Promise<void>;
  /** Lets the person's own editor change that text. */
  write(text: string): Promise<EditorOutcome>;
  /** Prints to the plain terminal and waits for enter. */
  print(lines: readonly string[]): Promise<void>;
  redraw(): void;
  suspend(): void;
  quit(): void;
}
