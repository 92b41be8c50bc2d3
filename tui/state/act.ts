import type { Client } from '../../src/client/index.js';
import type { ListName } from './lists.js';

/** What came of an act, where that is more than that it was done. */
export interface ActResult {
  said: string;
  /** It was done, and is no success for all that: a check that fails. */
  tone?: 'warn' | 'danger';
  /** Shown once, and kept nowhere. */
  secret?: ShownSecret;
}
export interface ShownSecret {
  title: string;
  value: string;
}

/** Something that can be done to the selection. */
export interface Act {
  /** `Disable hook deploy-notify` */
  text: string;
  /** What does the same without the desk: `adjutant hooks disable hook_…`. */
  line: string;
  /** What the row says until the answer is there: `disabling…`. */
  doing: string;
  /** Says what came of it, in one line. Throws what the client throws. */
  call(client: Client, typed: string): Promise<string | ActResult>;
  /** The row that it is done to, and the lists that are read again. */
  row: { list: ListName; id: string };
  touches: readonly ListName[];
  /** Asked for first; without it the key does it at once. */
  ask?: ActQuestion;
  /** Why it cannot be done now. */
  refusal?: string;
  /** Of the row, when it was shown: what has changed since is not done. */
  guard?: string;
}

/** A question before an act. Only `y` does it; where data is lost, only the typed name. */
export interface ActQuestion {
  lines: readonly string[];
  /** What must be typed. */
  name?: string;
  /** A text is typed first, and given to the call. */
  writes?: true;
  /** Keys count only after it has stood that long, in milliseconds. */
  deadMs?: number;
}
