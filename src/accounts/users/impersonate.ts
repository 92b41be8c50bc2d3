import Boom from '@hapi/boom';
import { iso } from '../../kernel/clock.js';
import type { Recorder } from '../../kernel/contract/audit.js';
import type { Caller } from '../../kernel/contract/endpoint.js';
import { mint } from '../../kernel/ids.js';
import type { Outbox } from '../../outbound/module.js';
import type { Signer } from '../../secrets/module.js';
import type { Impersonation } from './contract.js';
import { type AccountDeps, findAccount } from './service.js';

export interface ImpersonateDeps extends AccountDeps {
  signer: Signer;
  outbox: Outbox;
}

const HOUR_S = 3600;

/**
 * Everything in the session is recorded under both names. The session ends after an hour, or with the
 * admin's own session. The user is notified of the admin and the reason.
 */
export const impersonate = async (
  deps: ImpersonateDeps,
  { id, request: { reason, password } }: { id: string; request: Impersonation },
  by: Caller & Recorder,
): Promise<{ token: string; expiresAt: string }> => {
  const { role, disabled_at } = await findAccount(deps, id);
  if (role === 'admin') {
    throw Boom.forbidden('Admins cannot be impersonated', { code: 'admin_account' });
  }
  if (disabled_at !== null) {
    throw Boom.conflict('The account is disabled. Enable the account first', {
      code: 'account_disabled',
    });
  }
  await deps.accounts.proveFresh(by, password);
  const issuedAt = Math.floor(deps.clock.now() / 1000);
  const expiresAt = Math.min(issuedAt + HOUR_S, Math.floor(Date.parse(by.expiresAt) / 1000));
  const session = {
    id: mint('login', deps.clock.now()),
    user_id: id,
    device: null,
    address: by.address,
    created_at: iso(deps.clock.now()),
    proven_at: null,
    expires_at: iso(expiresAt * 1000),
    ended_at: null,
    last_used_at: null,
    impersonator_id: by.userId,
    impersonator_session_id: by.sessionId,
    sso_expires_at: null,
  };
  const note = { target: id, data: { reason, expiresAt: session.expires_at } };
  const message = deps.outbox.toOwner(id, {
    kind: 'impersonation.begun',
    title: `An admin is impersonating you: ${by.username}`,
    body: `Reason: ${reason}. The session ends at ${session.expires_at} at the latest. It has no access to your password, second factors, tokens or approvals.`,
    link: null,
  });
  await deps.users.beginImpersonation(session, [...message.statements, by.record(note)]);
  message.published();
  const claims = { userId: id, sessionId: session.id, issuedAt, expiresAt, actorId: by.userId };
  return { token: deps.signer.sign(claims), expiresAt: session.expires_at };
};
