import { iso } from '../../kernel/clock.js';
import type { AuditRecorder } from '../../kernel/contract/audit.js';
import type { RequestContext } from '../../kernel/contract/endpoint.js';
import { pageLink } from '../../kernel/pagepath.js';
import type { Outbox } from '../../outbound/module.js';
import { inviteRefused, type LinkDeps, openInvite } from './invites.js';
import type { UsersStore } from './queries.js';
import { findAccount } from './service.js';

export interface ResetDeps extends LinkDeps {
  users: UsersStore;
  outbox: Outbox;
  endSession(sessionId: string): void;
}

/**
 * Second factors and personal access tokens stay, since only the password was lost. Refuses if the user
 * was disabled or became an admin after the link was created.
 */
export const issuePasswordReset = async (
  deps: ResetDeps,
  { inviteToken, password }: { inviteToken: string; password: string },
  by: RequestContext & AuditRecorder,
): Promise<{ username: string }> => {
  const { invitations, clock, outbox } = deps;
  const { digest, user_id: id } = await openInvite(deps, inviteToken, by);
  if (id === null) throw inviteRefused();
  const hash = await deps.accounts.hashPassword(password, id);
  const message = outbox.toOwner(id, {
    kind: 'password.reset',
    title: 'The password of your account was reset',
    body: 'It was reset with a link from an admin. If this was not you, contact an admin at once.',
    link: pageLink('device'),
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
