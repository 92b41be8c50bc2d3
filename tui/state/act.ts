import type { Client } from '../../src/client/index.js';
import type { ScreenPlace } from './locations.js';
import type { ListName } from './rows.js';

export interface ActResult {
  message: string;
  /** Tone if the action ran but the result is bad, such as a failed check. */
  tone?: 'warn' | 'danger';
  secret?: ShownSecret;
  /** Page that shows the outcome, in place of the message. */
  opens?: ScreenPlace;
}
export interface ShownSecret {
  title: string;
  value: string;
}

export interface Act {
  /** `Disable hook deploy-notify`. */
  text: string;
  /** Equivalent command: `adjutant hooks disable hook_…`. */
  line: string;
  /** Hint for its key, if the key has several effects on the page. */
  hint?: string;
  /** Text in the row until the reply arrives: `disabling…`. */
  doing: string;
  /** Performs the action and returns its outcome in one line. Throws client errors. */
  call(client: Client, typed: string): Promise<string | ActResult>;
  /** Row of the action. `touches`: lists that are reloaded after it. */
  row: { list: ListName; id: string };
  /** Whether the action is possible without such a row in its list. */
  isFree?: true;
  touches: readonly ListName[];
  ask?: ActQuestion;
  refusal?: string;
  /**
   * Digest of the row when it was shown. If the row has changed since, the action is not performed.
   */
  guard?: string;
}

/** Row of an action, and the lists reloaded after it. */
export const actTarget = (
  list: ListName,
  id: string,
  ...others: ListName[]
): Pick<Act, 'row' | 'touches'> => ({ row: { list, id }, touches: [list, ...others] });

/** Outcome of an action without a result. */
export const reportDone = async (reply: Promise<unknown>, message: string): Promise<string> => {
  await reply;
  return message;
};

/** Maximum length of a name that is typed to confirm. */
const TYPED = 40;

/** Text to type before data is deleted: the name, or the end of the id if the name is long. */
export const confirmationText = (name: string, id: string): string =>
  name.length <= TYPED ? name : id.slice(-6);

/** Only `y` confirms. If data would be lost, only the typed name does. */
export interface ActQuestion {
  lines: readonly string[];
  name?: string;
  writes?: true;
  /** Label of enter in the text field. Defaults to `send`. */
  enter?: string;
  /** Time that the question must be shown before keys count, in milliseconds. */
  deadMs?: number;
}
