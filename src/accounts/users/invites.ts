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

export interface LinkDeps {
  clock: Clock;
  invitations: InvitationsStore;
  accounts: AccountOperations;
}

export interface InviteDeps extends LinkDeps {
  users: UsersStore;
  /** Null if there is none; the address of the request is used then. */
  publicUrl(): string | null;
  reach(): MadeInvite['reach'];
  /** True if invites cannot create accounts. */
  isRegistrationClosed: boolean;
}

const HOUR_MS = 3600 * 1000;
const DEFAULT_HOURS = 72;
/** The ID in the path for a user who has no account yet. */
const NEW = 'new';
/** Account under which wrong tokens are counted. No username has this form. */
const NOBODY = '#invite';

interface MadeInvite {
  inviteToken: string;
  url: string;
  expiresAt: string;
  reach: 'none' | 'unverified' | 'verified' | 'failed';
}

/**
 * The token is shown once and stored as a digest. An invite for an admin and a reset link require a
 * recent login.
 */
export const makeInvite = async (
  deps: InviteDeps,
  { id, request }: { id: string; request: Invitation },
  by: Caller & Recorder,
): Promise<MadeInvite> => {
  const { password, ...invitation } = request;
  const account = await (id === NEW ? newAccount(deps, invitation) : reset(deps, id, invitation));
  if (id !== NEW || account.role === 'admin') await deps.accounts.proveFresh(by, password);
  const token = randomBytes(32).toString('base64url');
  const now = deps.clock.now();
  const expiresAt = iso(now + (invitation.expiresInHours ?? DEFAULT_HOURS) * HOUR_MS);
  const row = {
    ...account,
    digest: computeDigest(token),
    invited_by: by.userId,
    expires_at: expiresAt,
    created_at: iso(now),
  };
  const { role, email } = account;
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
    throw Boom.conflict(
      'Registration is closed, so an invite cannot be used. Set ADJUTANT_REGISTRATION=invite and restart the daemon',
      {
        code: 'registration_closed',
      },
    );
  }
  if (email !== undefined && (await accounts.userIdOf(email)) !== null) {
    throw Boom.conflict('The e-mail address is already in use. Choose another address', {
      code: 'email_taken',
      details: [{ path: 'email', message: 'is already in use' }],
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
    const details = fields.map(([path]) => ({
      path,
      message: 'is allowed only for a new account',
    }));
    throw Boom.badRequest(
      'role and email are allowed only for a new account. Omit both for a password reset link',
      { details },
    );
  }
  const user = await findAccount(deps, id);
  if (user.role === 'admin') {
    throw Boom.forbidden(
      'The password of an admin cannot be reset by another user. Stop the daemon and run on its machine: adjutant recover <user>',
      {
        code: 'admin_account',
      },
    );
  }
  if (user.disabled_at !== null) {
    throw Boom.conflict('The account is disabled. Enable the account first', {
      code: 'account_disabled',
    });
  }
  return { user_id: id, role: null, email: null };
};

/** Throws 403 if the token is not valid, and 429 after too many such attempts. */
export const openInvite = async (
  { invitations, clock, accounts }: LinkDeps,
  token: string,
  by: RequestContext,
): Promise<InviteRow> => {
  const attempt = { userId: NOBODY, by };
  await accounts.refuseFlood(attempt);
  const row = await invitations.open(computeDigest(token), iso(clock.now()));
  if (row) return row;
  await accounts.addFailure(attempt);
  throw inviteRefused();
};

/** For registration, which accepts only invites for a new account. */
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
  Boom.forbidden('The link is wrong, already used or expired. Ask an admin for a new one', {
    code: 'invite_refused',
  });

const computeDigest = (token: string): string =>
  createHash('sha256').update(token).digest('base64url');

/**
 * Without a public address, the Host header of the admin's request is used. A header that is not a host
 * gives the address of this machine.
 */
export const addressFor = (publicUrl: string | null, host: string): string => {
  if (publicUrl !== null) return publicUrl.replace(/\/+$/, '');
  const address = `http://${host}`;
  return URL.canParse(address) && new URL(address).host === host ? address : 'http://localhost';
};
