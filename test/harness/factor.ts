import { generate } from 'otplib';
import type { FrozenClock, TestApp } from './app.js';

/** An account whose logins need a code. */
export interface Guarded {
  id: string;
  token: string;
  recoveryCodes: string[];
  /** The code of now. */
  code(): Promise<string>;
}

/** Somebody who registers and sets an authenticator app up. */
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

/** A code that is not the one of now, nor of the steps beside it. */
export const WRONG_CODE = 'abcdef';
