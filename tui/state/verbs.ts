import { withCommands } from '../../cli/text.js';
import { ApiError, type Client, Unreachable } from '../../src/client/index.js';
import type { Act, ShownSecret } from './act.js';
import type { DeskState } from './deskstate.js';
import type { ScreenPlace } from './locations.js';
import type { State } from './state.js';
import type { Message } from './ui.js';

/**
 * The row shows the action in progress until the reply arrives, then it is reloaded: the desk shows
 * only what the daemon reports. A refusal appears in the message line. Resolves to the CLI command
 * that continues the action, or to null.
 */
export const performVerb = async (
  { client, store, feed }: Pick<DeskState, 'client' | 'store' | 'feed'>,
  act: Act,
  typed = '',
): Promise<readonly string[] | null> => {
  const { list, id } = act.row;
  const mark = (word: string | null): void =>
    store.dispatch({ type: 'list', name: list, change: { do: 'busy', id, word } });
  const showMessage = (message: Message): void => store.dispatch({ type: 'ui.said', message });
  if (id in store.get().lists[list].busy) {
    showMessage({ text: 'Already in progress', tone: 'warn' });
    return null;
  }
  mark(act.doing);
  const { shown, secret, opens, leave = null } = await performAct(client, act, typed);
  // Lists are reloaded before the outcome is shown, because the next key acts on what is shown.
  await Promise.all(act.touches.map((each) => feed.reload(each)));
  mark(null);
  if (act.ask?.writes && shown.tone === 'ok') {
    store.dispatch({ type: 'ui.draft', of: id, text: '' });
  }
  if (!opens) showMessage(shown);
  else {
    store.dispatch({ type: 'ui.said', message: null });
    store.dispatch({ type: 'ui.opened', place: opens });
  }
  if (secret) store.dispatch({ type: 'ui.secret', secret });
  return leave;
};

interface Outcome {
  shown: Message;
  secret?: ShownSecret;
  opens?: ScreenPlace;
  leave?: readonly string[];
}

const performAct = async (client: Client, act: Act, typed: string): Promise<Outcome> => {
  try {
    const outcome = await act.call(client, typed);
    if (typeof outcome === 'string') return { shown: { text: outcome, tone: 'ok' } };
    const { message: text, tone = 'ok', ...more } = outcome;
    return { shown: { text, tone }, ...more };
  } catch (error) {
    const leave = isInputMissing(error) ? { leave: act.line.split(' ').slice(1) } : {};
    return { shown: messageOfError(error), ...leave };
  }
};

/** Whether the password is required, or a decision. The command of the action asks for it. */
const isInputMissing = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.code === 'password_required' || error.details.some(({ path }) => path === 'resources'));

const messageOfError = (error: unknown): Message => {
  if (error instanceof ApiError) {
    const { statusCode, message, requestId } = error;
    const request = requestId ? ` (request ${requestId})` : '';
    return {
      text: `${statusCode}: ${withCommands(message)}${request}`,
      tone: statusCode === 409 ? 'warn' : 'danger',
    };
  }
  if (!(error instanceof Unreachable)) throw error;
  const doubt = error.mayHaveActed ? '. The action may still have run: check first' : '';
  return { text: `No answer: ${error.reason}${doubt}`, tone: 'danger' };
};

const PENDING_STATUSES: readonly string[] = ['pending', 'waiting_approval'];

/** Reason why an action is not possible now. `null` if it is possible. */
export const actRefusal = (state: State, act: Act): string | null => {
  const { lists } = state;
  const off = offlineReason(state);
  if (off !== null) return off;
  if (act.refusal) return act.refusal;
  const { list, id } = act.row;
  const row = lists[list].byId[id] ?? (list === 'agents' ? lists.tree.byId[id] : undefined);
  if (!row && !act.isFree) return 'It no longer exists';
  const isChanged =
    act.guard !== undefined &&
    !(row && 'digest' in row && row.digest === act.guard && PENDING_STATUSES.includes(row.status));
  return isChanged ? 'It was decided or changed meanwhile. Nothing was done' : null;
};

/** Reason why no action is possible. `null` if the daemon is reachable. */
export const offlineReason = ({ session: { link } }: State): string | null => {
  if (link.is === 'lost') return 'No connection to the daemon. Wait until the daemon is back';
  return link.is === 'refused' ? 'Not logged in. Log in first' : null;
};
