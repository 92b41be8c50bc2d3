import { type LoginGiven, type LoginOutcome, logInToDaemon } from '../state/login.js';
import type { Linear } from './linear.js';

/** Logs in again, as the user of the desk. What is open stays open. */
export const logInAgain = async (desk: Linear): Promise<void> => {
  const { known, output } = desk;
  const { link, who } = known.store.get().session;
  if (link.is !== 'refused') return output.line('You are logged in.');
  if (!who) return output.line('Run: adjutant login');
  const password = await secretly(desk, `Password for ${who.username}: `);
  if (password === '') return output.line('Not logged in.');
  const given = { username: who.username, password };
  const outcome = await logInToDaemon(known.client, known.held, given);
  tell(desk, outcome.is === 'code' ? await withCode(desk, given) : outcome);
};

const withCode = async (desk: Linear, given: LoginGiven): Promise<LoginOutcome> => {
  const totpCode = await secretly(desk, 'Code of your app: ');
  return logInToDaemon(desk.known.client, desk.known.held, { ...given, totpCode });
};

const secretly = async ({ output, lines }: Linear, prompt: string): Promise<string> => {
  output.prompt(prompt);
  const typed = await lines.hidden();
  // The line feed with which the user ended the input was not shown either.
  output.line('');
  return typed?.text ?? '';
};

const tell = ({ known, output }: Linear, outcome: LoginOutcome): void => {
  if (outcome.is === 'in') {
    output.line('Logged in again.');
    known.live.tryNow();
  } else output.line(outcome.is === 'refused' ? outcome.reason : 'Not logged in.');
};
