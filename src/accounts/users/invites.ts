import { createHash, randomBytes } from 'node:crypto';
import Boom from '@hapi/boom';
import { type Clock, iso } from '../../kernel/clock.js';
import type { Recorder } from '../../kernel/contract/audit.js';
import type { Caller, RequestContext } from '../../kernel/contract/endpoint.js';
import type { TransactionStep } from '../../store/engine/protocol.js';
import type { InviteRow } from '../../store/tables/accounts.js';
import type { AccountOperations } from '../auth/account.js';
import type { Invitation } from './contract.js';
import type { InvitationsStore } from './invitequeries.js';
import type { UsersStore } from './queries.js';
import { findAccount } from './service.js';

/** The dependencies for opening a link. */
export interface LinkDeps {
  clock: Clock;
  invitations: InvitationsStore;
  accounts: AccountOperations;
}

export interface InviteDeps extends LinkDeps {
  users: UsersStore;
  /**
   * Returns the public address; null if there is none, so that the address of the request is used.
   */
  publicUrl(): string | null;
  reach(): MadeInvite['reach'];
  /** True if no invite can make an account. */
  isRegistrationClosed: boolean;
}

const HOUR_MS = 3600 * 1000;
const DEFAULT_HOURS = 72;
/** Id for a user who has no account yet. */
const NEW = 'new';
/**
 * Account under which wrong tokens are counted, since they name no account; no username has this
 * form.
 */
const NOBODYS = '#invite';

interface MadeInvite {
  inviteToken: string;
  url: string;
  expiresAt: string;
  reach: 'none' | 'unverified' | 'verified' | 'failed';
}

/**
 * Makes an invite. The token is shown only once and stored as a digest. An invite that makes an
 * admin or sets a password requires a recent login.
 */
export const makeInvite = async (
  deps: InviteDeps,
  { id, asked }: { id: string; asked: Invitation },
  by: Caller & Recorder,
): Promise<MadeInvite> => {
  const { password, ...invitation } = asked;
  const holds = await (id === NEW ? newAccount(deps, invitation) : reset(deps, id, invitation));
  if (id !== NEW || holds.role === 'admin') await deps.accounts.proveFresh(by, password);
  const token = randomBytes(32).toString('base64url');
  const now = deps.clock.now();
  const expiresAt = iso(now + (invitation.expiresInHours ?? DEFAULT_HOURS) * HOUR_MS);
  const row = {
    ...holds,
    digest: digestOf(token),
    invited_by: by.userId,
    expires_at: expiresAt,
    created_at: iso(now),
  };
  const { role, email } = holds;
  await deps.invitations.keep(row, [by.record({ target: id, data: { role, email, expiresAt } })]);
  const page = id === NEW ? 'invite' : 'reset';
  const url = `${addressFor(deps.publicUrl(), by.host)}/${page}#${token}`;
  return { inviteToken: token, url, expiresAt, reach: deps.reach() };
};

type InvitedAccount = Pick<InviteRow, 'user_id' | 'role' | 'email'>;

const newAccount = async (
  { accounts, isRegistrationClosed }: InviteDeps,
  { role = 'user', email }: Invitation,
): Promise<InvitedAccount> => {
  if (isRegistrationClosed) {
    throw Boom.conflict('Registration is closed: an invite would be of no use', {
      code: 'registration_closed',
    });
  }
  if (email !== undefined && (await accounts.userIdOf(email)) !== null) {
    throw Boom.conflict('Somebody has that e-mail address already', {
      code: 'email_taken',
      details: [{ path: 'email', message: 'is taken' }],
    });
  }
  return { user_id: null, role, email: email ?? null };
};

const reset = async (
  deps: InviteDeps,
  id: string,
  { role, email }: Invitation,
): Promise<InvitedAccount> => {
  const fields = Object.entries({ role, email }).filter(([, value]) => value !== undefined);
  if (fields.length > 0) {
    const details = fields.map(([path]) => ({ path, message: 'is for a new account' }));
    throw Boom.badRequest('Not accepted: role and email are for a new account', { details });
  }
  const user = await findAccount(deps, id);
  if (user.role === 'admin') {
    throw Boom.forbidden('An admin sets a new password alone. Lost: adjutant recover', {
      code: 'admin_account',
    });
  }
  if (user.disabled_at !== null) {
    throw Boom.conflict('The account is disabled: enable it first', { code: 'account_disabled' });
  }
  return { user_id: id, role: null, email: null };
};

/**
 * Returns the invite of a token. Replies with 403 if it is not or no longer valid, and with 429
 * after too many such tries.
 */
export const openInvite = async (
  { invitations, clock, accounts }: LinkDeps,
  token: string,
  by: RequestContext,
): Promise<InviteRow> => {
  const attempt = { userId: NOBODYS, by };
  await accounts.refuseFlood(attempt);
  const row = await invitations.open(digestOf(token), iso(clock.now()));
  if (row) return row;
  await accounts.addFailure(attempt);
  throw inviteRefused();
};

/** Returns a function with which registration opens the invite for a new account. */
export const openRegistration = (deps: LinkDeps) => async (token: string, by: RequestContext) => {
  const { digest, role, email } = await openInvite(deps, token, by);
  if (role === null) throw inviteRefused();
  const spend = async (also: TransactionStep[]): Promise<void> => {
    const at = iso(deps.clock.now());
    if (!(await deps.invitations.spend(digest, at, also))) throw inviteRefused();
  };
  return { role, email, spend };
};

export const inviteRefused = (): Boom.Boom =>
  Boom.forbidden('That link is wrong, used or over. Ask an admin for a new one', {
    code: 'invite_refused',
  });

const digestOf = (token: string): string => createHash('sha256').update(token).digest('base64url');

/**
 * Returns the address of the daemon for a link: the public one if there is one, or else the host of
 * the admin's request, from its Host header. A header that is not a host gives the address of this
 * machine.
 */
export const addressFor = (publicUrl: string | null, host: string): string => {
  if (publicUrl !== null) return publicUrl.replace(/\/+$/, '');
  const asked = `http://${host}`;
  return URL.canParse(asked) && new URL(asked).host === host ? asked : 'http://localhost';
};
