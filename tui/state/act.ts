import type { Client } from '../../src/client/index.js';
import type { ScreenPlace } from './places.js';
import type { ListName } from './rows.js';

/** The outcome of an act, if there is more to say than that it was done. */
export interface ActResult {
  message: string;
  /** The tone if the act was done but is no success, such as a check that fails. */
  tone?: 'warn' | 'danger';
  /** The secret, which is shown once and stored nowhere. */
  secret?: ShownSecret;
  /** The page that shows the outcome, in place of the message. */
  opens?: ScreenPlace;
}
export interface ShownSecret {
  title: string;
  value: string;
}

/** An act on the selection. */
export interface Act {
  /** The name of the act: `Disable hook deploy-notify`. */
  text: string;
  /** The command that does the same without the desk: `adjutant hooks disable hook_…`. */
  line: string;
  /** The effect of its key here, if the key has more than one on its page. */
  hint?: string;
  /** The text in the row until the reply arrives: `disabling…`. */
  doing: string;
  /** Performs the act and returns its outcome in one line. Throws what the client throws. */
  call(client: Client, typed: string): Promise<string | ActResult>;
  /**
   * The row on which the act is performed; `touches` are the lists that are loaded again after it.
   */
  row: { list: ListName; id: string };
  /** True if the act is possible although its list has no such row. */
  isFree?: true;
  touches: readonly ListName[];
  /** The question before the act; without one the key performs the act at once. */
  ask?: ActQuestion;
  /** The reason why the act is not possible now. */
  refusal?: string;
  /**
   * The digest of the row when it was shown. If the row has changed since, the act is not
   * performed.
   */
  guard?: string;
}

/** Returns the row of an act, and the lists that are loaded again after it. */
export const onRow = (
  list: ListName,
  id: string,
  ...others: ListName[]
): Pick<Act, 'row' | 'touches'> => ({ row: { list, id }, touches: [list, ...others] });

/** Returns the outcome of an act of which there is nothing more to say than that it was done. */
export const done = async (reply: Promise<unknown>, message: string): Promise<string> => {
  await reply;
  return message;
};

/** The longest name that is typed to confirm, in characters. */
const TYPED = 40;

/** Returns what is typed to confirm a loss: the name, or the end of the id if that is long. */
export const confirmedBy = (name: string, id: string): string =>
  name.length <= TYPED ? name : id.slice(-6);

/**
 * A question before an act. Only `y` confirms it; if data would be lost, only the typed name does.
 */
export interface ActQuestion {
  lines: readonly string[];
  /** The name that must be typed. */
  name?: string;
  /** True if a text is typed first, and passed to the call. */
  writes?: true;
  /** The effect of enter on the text; `send` unless given. */
  enter?: string;
  /** Time in milliseconds for which the question must have been shown before keys count. */
  deadMs?: number;
}
