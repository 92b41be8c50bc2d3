import { iso } from '../../kernel/clock.js';
import type { VisitRecorder } from '../../kernel/contract/audit.js';
import type { Visit } from '../../kernel/contract/endpoint.js';
import type { Outbox } from '../../outbound/outbox.js';
import { inviteRefused, type LinkDeps, openInvite } from './invites.js';
import { findAccount, type UsersDeps } from './service.js';

export interface ResetDeps extends LinkDeps, Pick<UsersDeps, 'users' | 'endSession'> {
  outbox: Pick<Outbox, 'toOwner'>;
}

/**
 * Sets a new password with a reset link. Second factors and personal access tokens stay, since only
 * the password was lost. Refuses if the user was disabled or made an admin after the link was made.
 */
export const issuePasswordReset = async (
  deps: ResetDeps,
  { inviteToken, password }: { inviteToken: string; password: string },
  by: Visit & VisitRecorder,
): Promise<{ username: string }> => {
  const { invitations, clock, outbox } = deps;
  const { digest, user_id: id } = await openInvite(deps, inviteToken, by);
  if (id === null) throw inviteRefused();
  const hash = await deps.accounts.hashPassword(password, id);
  const message = outbox.toOwner(id, {
    kind: 'password.reset',
    title: 'The password of your account was set anew',
    body: 'It was done with a link from an admin. If it was not you, tell an admin at once.',
    link: '/api/auth/sessions',
  });
  const at = iso(clock.now());
  const also = [
    ...invitations.resetting(id, hash, at),
    ...message.statements,
    by.record({ actorId: id, target: id }),
  ];
  const ended = await invitations.spend(digest, at, also);
  if (!ended) throw inviteRefused();
  message.published();
  for (const session of ended) deps.endSession(session);
  const { username } = await findAccount(deps, id);
  return { username };
};
