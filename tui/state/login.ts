import { logInFromDevice } from '../../src/client/devices.js';
import { ApiError, type Client, Unreachable } from '../../src/client/index.js';
import { requireAdjutant } from '../../src/client/requireadjutant.js';
import { type FetchLike, send } from '../../src/client/send.js';
import { saveSession } from '../../src/client/session.js';

export interface TokenHolder {
  get(): string | undefined;
  set(token: string): void;
  /** Always sends the current token. */
  fetch: FetchLike;
}

export const createTokenHolder = (first: string | undefined): TokenHolder => {
  const fetch = requireAdjutant(send);
  let token = first;
  return {
    get: () => token,
    set: (next) => {
      token = next;
    },
    fetch: (url, sent) => {
      if (token === undefined) return fetch(url, sent);
      return fetch(url, {
        ...sent,
        headers: { ...sent.headers, authorization: `Bearer ${token}` },
      });
    },
  };
};

export interface LoginInput {
  username: string;
  password: string;
  totpCode?: string;
}
/** `code`: the authenticator code is needed too. */
export type LoginOutcome =
  | { is: 'in'; who: { username: string; role: 'admin' | 'user' } }
  | { is: 'code' }
  | { is: 'refused'; reason: string };

/** Also stores the login session for the CLI. */
export const logInToDaemon = async (
  client: Client,
  held: TokenHolder,
  given: LoginInput,
): Promise<LoginOutcome> => {
  try {
    const { token, expiresAt, user } = await logInFromDevice(client, given);
    held.set(token);
    saveSession(client.url, { token, username: user.username, expiresAt });
    return { is: 'in', who: { username: user.username, role: user.role } };
  } catch (error) {
    if (error instanceof Unreachable) return { is: 'refused', reason: error.reason };
    if (!(error instanceof ApiError)) throw error;
    if (error.code === 'totp_required') return { is: 'code' };
    return { is: 'refused', reason: error.message };
  }
};
