import { generate } from 'otplib';
import type { FrozenClock, TestApp } from './app.js';

/** An account whose logins need a code. */
export interface Guarded {
  id: string;
  token: string;
  recoveryCodes: string[];
  code(): Promise<string>;
}

/** Registers an account and sets up an authenticator app. */
export const registerGuarded = async (
  app: TestApp,
  clock: FrozenClock,
  username: string,
): Promise<Guarded> => {
  const { id, token } = await app.register(username);
  const { secret } = (await app.call('POST', '/api/auth/totp/setup', { token, body: {} })).body;
  const code = () => generate({ secret, epoch: Math.floor(clock.now() / 1000) });
  const body = { code: await code() };
  const enabled = await app.call('POST', '/api/auth/totp/enable', { token, body });
  if (enabled.status !== 200) throw new Error(enabled.text);
  return { id, token, recoveryCodes: enabled.body.recoveryCodes, code };
};

/** Not the current code, nor that of a neighbouring time step. */
export const WRONG_CODE = 'abcdef';
