import Boom from '@hapi/boom';
import type { Recorder } from '../../kernel/audit.js';
import { iso } from '../../kernel/clock.js';
import type { Caller } from '../../kernel/endpoint.js';
import { mint } from '../../kernel/ids.js';
import type { Signer } from '../../runtime/keys/signing.js';
import { findUser, type UsersDeps } from './service.js';

export interface ImpersonateDeps extends Pick<UsersDeps, 'users' | 'clock'> {
  signer: Pick<Signer, 'sign'>;
}

const HOUR_S = 3600;

/**
 * A session of the user's in which everything is recorded under both names. It ends with the hour
 * or with the admin's own session, whichever is first.
 */
export const impersonate = async (
  deps: ImpersonateDeps,
  { id, reason }: { id: string; reason: string },
  by: Caller & Recorder,
): Promise<{ token: string; expiresAt: string }> => {
  const { role, disabled_at } = await findUser(deps, id);
  if (role === 'admin') {
    throw Boom.forbidden('Nobody acts as an admin', { code: 'admin_account' });
  }
  if (disabled_at !== null) {
    throw Boom.conflict('The account is disabled', { code: 'account_disabled' });
  }
  const issuedAt = Math.floor(deps.clock.now() / 1000);
  const expiresAt = Math.min(issuedAt + HOUR_S, Math.floor(Date.parse(by.expiresAt) / 1000));
  const session = {
    id: mint('login', deps.clock.now()),
    user_id: id,
    device: null,
    address: by.address,
    created_at: iso(deps.clock.now()),
    expires_at: iso(expiresAt * 1000),
    ended_at: null,
    last_used_at: null,
    impersonator_id: by.userId,
    impersonator_session_id: by.sessionId,
  };
  const note = { target: id, data: { reason, expiresAt: session.expires_at } };
  await deps.users.beginImpersonation(session, [by.record(note)]);
  const claims = { userId: id, sessionId: session.id, issuedAt, expiresAt, actorId: by.userId };
  return { token: deps.signer.sign(claims), expiresAt: session.expires_at };
};
