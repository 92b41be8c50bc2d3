import { logInFromDevice } from '../../src/client/devices.js';
import { ApiError, type Client, Unreachable } from '../../src/client/index.js';
import { recognized } from '../../src/client/recognize.js';
import { type FetchLike, send } from '../../src/client/send.js';
import { saveSession } from '../../src/client/session.js';

/** The token of the desk. A new login replaces it, and everything else stays. */
export interface HeldToken {
  get(): string | undefined;
  set(token: string): void;
  /** Sends a request, always with the current token. */
  fetch: FetchLike;
}

export const holdToken = (first: string | undefined): HeldToken => {
  const fetch = recognized(send);
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

export interface LoginGiven {
  username: string;
  password: string;
  totpCode?: string;
}
/** The outcome of a login. `code`: the code of the authenticator app is needed too. */
export type LoginOutcome =
  | { is: 'in'; who: { username: string; role: 'admin' | 'user' } }
  | { is: 'code' }
  | { is: 'refused'; reason: string };

/** Logs in, and stores the login session for the CLI too. */
export const logInToDaemon = async (
  client: Client,
  held: HeldToken,
  given: LoginGiven,
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
