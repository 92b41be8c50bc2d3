import Boom from '@hapi/boom';
import { type Clock, iso } from '../../kernel/clock.js';
import type { Recorder } from '../../kernel/contract/audit.js';
import type { Caller } from '../../kernel/contract/endpoint.js';
import type { Signer } from '../../secrets/module.js';
import { authSessionTable } from '../../store/tables/accounts.js';
import { viewer } from '../../store/view.js';
import { LoginSession } from './contract.js';
import type { LoginRow, LoginsStore } from './queries.js';

export interface LoginsDeps {
  logins: LoginsStore;
  signer: Pick<Signer, 'sign'>;
  clock: Clock;
  /** Lifetime of a login without a device name. */
  tokenHours: number;
  endSession(sessionId: string): void;
}

const HOUR_S = 3600;
/** Maximum lifetime after authentication, however often the login is refreshed or passed on. */
const MAX_S = 30 * 24 * HOUR_S;

export const endLoginSession = async (
  { logins, clock, endSession }: LoginsDeps,
  id: string,
  by: Caller & Recorder,
): Promise<void> => {
  const which = { userId: by.userId, id, now: iso(clock.now()) };
  if (!(await logins.end(which, [by.record({ target: id })]))) {
    throw Boom.notFound('No login session with that id');
  }
  endSession(id);
};

export const refresh = async (
  { logins, signer, clock, tokenHours }: LoginsDeps,
  { userId, sessionId }: Caller,
): Promise<{ token: string; expiresAt: string }> => {
  const now = clock.now();
  const session = await logins.find(userId, sessionId, iso(now));
  if (!session) throw ended();
  const issuedAt = Math.floor(now / 1000);
  const latest =
    session.sso_expires_at === null
      ? toUnixSeconds(session.proven_at ?? session.created_at) + MAX_S
      : toUnixSeconds(session.sso_expires_at);
  const wanted = Math.floor(issuedAt + tokenHours * HOUR_S);
  const expiresAt = Math.max(toUnixSeconds(session.expires_at), Math.min(wanted, latest));
  if (!(await logins.extend(userId, sessionId, iso(expiresAt * 1000)))) throw ended();
  const token = signer.sign({ userId, sessionId, issuedAt, expiresAt });
  return { token, expiresAt: iso(expiresAt * 1000) };
};

export const viewLogin = viewer(authSessionTable, LoginSession, {
  current: ({ current }: LoginRow & Pick<LoginSession, 'current'>) => current,
});

const ended = (): Boom.Boom => Boom.unauthorized('Your login session has ended. Log in again');

const toUnixSeconds = (at: string): number => Math.floor(Date.parse(at) / 1000);
