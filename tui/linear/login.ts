import type { LoginInput, LoginOutcome } from '../state/login.js';
import type { Linear } from './linear.js';

/** Logs in again as the same user. Open pages stay open. */
export const logInAgain = async (desk: Linear): Promise<void> => {
  const { known, output } = desk;
  const { link, who } = known.store.get().session;
  if (link.is !== 'refused') return output.line('You are logged in.');
  if (!who) return output.line('Run: adjutant login');
  const password = await secretly(desk, `Password for ${who.username}: `);
  if (password === '') return output.line('Not logged in.');
  const outcome = await logInWith(desk, { username: who.username, password });
  if (outcome.is === 'in') output.line('Logged in again.');
  else output.line(outcome.is === 'refused' ? outcome.reason : 'Not logged in.');
};

/** Asks for the authenticator code if the daemon requires it. */
const logInWith = async (desk: Linear, input: LoginInput): Promise<LoginOutcome> => {
  const outcome = await desk.known.logIn(input);
  if (outcome.is !== 'code') return outcome;
  const totpCode = await secretly(desk, 'Authenticator code: ');
  return desk.known.logIn({ ...input, totpCode });
};

const secretly = async ({ output, lines }: Linear, prompt: string): Promise<string> => {
  output.prompt(prompt);
  const typed = await lines.hidden();
  // The user's line feed was not shown either.
  output.line('');
  return typed?.text ?? '';
};
