import type { Act } from '../state/act.js';
import { getScreenStack } from '../state/ui.js';
import { actRefusal, performVerb } from '../state/verbs.js';
import type { Linear } from './linear.js';
import type { TypedLine } from './lines.js';
import { announcePage } from './readout.js';

/**
 * On a terminal, input that arrives within this time was typed or pasted before the question, in
 * milliseconds.
 */
const PASTED_MS = 300;

/**
 * Asks the question of an action, if it has one, performs it and announces the outcome. Enter alone
 * means no. Where it matters, input typed before the question could be heard does not count.
 */
export const beginQuestions = async (desk: Linear, act: Act): Promise<void> => {
  const { known, output, announcer } = desk;
  const refusal = actRefusal(known.store.get(), act);
  if (refusal !== null) return output.line(refusal);
  announcer.hold(true);
  try {
    const typed = act.ask ? await inputFor(desk, act) : '';
    if (typed !== null) await performAndAnnounce(desk, act, typed);
  } finally {
    announcer.hold(false);
  }
};

/** Text for the action. `null` if it is cancelled, which is announced. */
const inputFor = (desk: Linear, act: Act): Promise<string | null> => {
  desk.output.lines(act.ask?.lines ?? []);
  return act.ask?.writes ? writtenInput(desk, act) : confirmedInput(desk, act);
};

const confirmedInput = async (
  { known, output, lines, leave }: Linear,
  act: Act,
): Promise<string | null> => {
  const { name, deadMs = 0 } = act.ask ?? {};
  output.line(
    name === undefined ? 'Type y to confirm. Anything else cancels.' : `Type ${name} to confirm.`,
  );
  const questionAt = known.clock.now();
  output.prompt('Answer: ');
  const typed = await lines.next();
  output.answered();
  const afterMs = (typed?.at ?? 0) - questionAt;
  // A script sends all its lines at once, on purpose. Even so, no call is approved before its
  // question could be heard.
  const leastMs = leave === null ? deadMs : Math.max(deadMs, PASTED_MS);
  const isTooSoon = leastMs > 0 && afterMs < leastMs;
  if (isYes(typed, name) && !isTooSoon) return '';
  const prefix = isYes(typed, name) ? 'The answer came before the question. ' : '';
  output.line(`${prefix}Nothing was done.`);
  return null;
};

const isYes = (typed: TypedLine | null, name: string | undefined): boolean => {
  const text = typed?.text.trim() ?? '';
  return name === undefined ? /^y(es)?$/i.test(text) : text === name.trim();
};

/** Reads lines until an empty one. An earlier draft goes before them. */
const writtenInput = async ({ known, output, lines }: Linear, act: Act): Promise<string | null> => {
  const { store } = known;
  const draft = store.get().ui.drafts[act.row.id] ?? '';
  if (draft !== '') output.lines(['Earlier draft, sent together with the new text:', draft]);
  output.line('Type the text. An empty line sends the text.');
  const written = draft === '' ? [] : [draft];
  for (;;) {
    output.prompt('Text: ');
    const typed = await lines.next();
    output.answered();
    if (typed === null || typed.text === '') {
      const text = written.join('\n');
      store.dispatch({ type: 'ui.draft', of: act.row.id, text });
      if (typed !== null && text.trim() !== '') return text;
      output.line('Nothing was sent.');
      return null;
    }
    written.push(typed.text);
  }
};

/** Does nothing if the row has changed since the question. A new secret is shown once. */
const performAndAnnounce = async (desk: Linear, act: Act, typed: string): Promise<void> => {
  const { known, output, announcement } = desk;
  const { store } = known;
  const depth = getScreenStack(store.get().ui).length;
  const refusal = actRefusal(store.get(), act);
  if (refusal !== null) return output.line(refusal);
  output.line(act.doing.replace('…', '.').replace(/^./, (first) => first.toUpperCase()));
  const words = await performVerb(known, act, typed);
  const { message, secret } = store.get().ui;
  if (getScreenStack(store.get().ui).length > depth) await announcePage(desk);
  if (message) output.line(message.text);
  if (words) return leaveFor(desk, words);
  if (act.row.list === 'approvals' && message?.tone === 'ok') announcement.decided.add(act.row.id);
  if (!secret) return;
  output.lines([secret.title, secret.value]);
  output.line('The value stays above until you clear the terminal.');
  store.dispatch({ type: 'ui.secret', secret: null });
};

export const leaveFor = async ({ leave, output, announcer }: Linear, words: readonly string[]) => {
  const line = `adjutant ${words.join(' ')}`;
  if (!leave) return output.line(`This command needs a terminal. Run: ${line}`);
  output.line(line);
  announcer.hold(true);
  await leave(words);
  announcer.hold(false);
  output.line('Back at the desk. Type list to read this page again.');
};
