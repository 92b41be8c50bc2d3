import { contract } from '../../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../../kernel/contract/page.js';
import {
  amount,
  email,
  flag,
  id,
  ignoring,
  newPassword,
  nullable,
  object,
  oneOf,
  optional,
  partial,
  queryFlag,
  reason,
  type Static,
  text,
  time,
  whole,
} from '../../kernel/contract/schema.js';

/** Needed later than ten minutes after login; a personal access token has no login. */
const password = () => optional(text(256).description('Needed later than ten minutes after login'));

const role = () => oneOf('Role', 'admin', 'user');

const UserLimits = object('UserLimits', {
  dailyCostUsd: nullable(amount(0, 1e6)).description(
    'What the agents may cost a day, in USD; null = as the setting says',
  ),
  dailyTokens: nullable(whole(0, 1e12)).description(
    'Tokens that the agents may use a day, of models without a price too; null = any number',
  ),
  dailySteps: nullable(whole(0, 1e9)).description(
    'Questions that the agents may ask models a day; null = any number',
  ),
});

const UserPermissions = object('UserPermissions', {
  shell: nullable(flag()).description('May run commands; null = as the role has it: admins may'),
  mcp: nullable(flag()).description('May use MCP servers that are not for everyone; null as above'),
});

/** A user, as admins see it. */
export const Account = object('Account', {
  id: id('user'),
  username: text(50),
  email: nullable(text(254)),
  role: role(),
  disabled: flag(),
  disabledAt: nullable(time()),
  limits: UserLimits,
  permissions: UserPermissions,
  totpEnabled: flag(),
  passkeys: whole(0, 1000).description('How many are registered'),
  createdAt: time(),
});
export type Account = Static<typeof Account>;

export const AccountChanges = ignoring(
  partial(
    'AccountChanges',
    object('AccountChanges', {
      role: role(),
      disabled: flag().description('Ends sessions, tokens, sockets and agents at once'),
      limits: partial('UserLimitChanges', UserLimits),
      permissions: partial('UserPermissionChanges', UserPermissions),
      password: password(),
    }),
  ),
  'id',
  'username',
  'email',
  'disabledAt',
  'totpEnabled',
  'passkeys',
  'createdAt',
);
export type AccountChanges = Static<typeof AccountChanges>;

const Invitation = object('Invitation', {
  /**
   * Role of the new account: `user` unless given. It has no description, since that would make a
   * separate schema of it.
   */
  role: optional(role()),
  email: optional(email().description('The new account gets this address and no other')),
  expiresInHours: optional(whole(1, 720).description('72 unless given')),
  password: password(),
});
export type Invitation = Static<typeof Invitation>;

/** A user's passkey, as admins see it. */
const AccountPasskey = object('AccountPasskey', {
  id: id('passkey'),
  name: text(100),
  relyingParty: text(253).description('The name it belongs to: `localhost`, or the public host'),
  createdAt: time(),
  lastUsedAt: nullable(time()),
});
export type AccountPasskey = Static<typeof AccountPasskey>;

const FactorRemoval = object('FactorRemoval', {
  reason: reason(500).description('Kept in the audit log, and told to the user'),
  password: password(),
});
export type FactorRemoval = Static<typeof FactorRemoval>;

const Impersonation = object('Impersonation', {
  reason: reason(500).description('Kept in the audit log, and told to the user'),
  password: password(),
});
export type Impersonation = Static<typeof Impersonation>;

export const users = contract({
  list: {
    method: 'GET',
    path: '/api/admin/users',
    summary: 'List all users',
    access: 'admin',
    audit: 'users.list',
    query: pageQuery('AccountQuery', {
      role: optional(role()),
      disabled: optional(queryFlag()),
      q: optional(text(254).description('A part of the name or of the e-mail address')),
    }),
    reply: pageOf('users', Account),
  },
  update: {
    method: 'PATCH',
    path: '/api/admin/users/{id}',
    summary: 'Change the role, limits or permissions of a user; disable it or enable it again',
    access: 'admin',
    audit: 'users.update',
    example: { limits: { dailyCostUsd: 5 } },
    body: AccountChanges,
    reply: Account,
  },
  invite: {
    method: 'POST',
    path: '/api/admin/users/{id}/invite',
    summary: 'Make an invite (`new` as the id), or the link by which a user sets a new password',
    access: 'admin',
    audit: 'users.invite',
    example: { expiresInHours: 48 },
    body: Invitation,
    reply: object('Invite', {
      inviteToken: text(200),
      url: text(2000),
      expiresAt: time(),
      reach: oneOf('InviteReach', 'none', 'unverified', 'verified', 'failed').description(
        'How sure it is that others reach the address in the link; none: it has no public one',
      ),
    }),
    status: 201,
    secret: true,
  },
  impersonate: {
    method: 'POST',
    path: '/api/admin/users/{id}/impersonate',
    summary: 'Act as a user for an hour, on the record; never as an admin',
    access: 'admin',
    personal: true,
    audit: 'users.impersonate',
    example: { reason: 'Ticket 4711: a hook that does not fire' },
    body: Impersonation,
    reply: object('ActingToken', { token: text(4096), expiresAt: time() }),
    secret: true,
  },
  'totp-remove': {
    method: 'DELETE',
    path: '/api/admin/users/{id}/totp',
    summary: 'Remove the authenticator app of a user who lost it; never of an admin',
    access: 'admin',
    personal: true,
    audit: 'users.totp-remove',
    example: { reason: 'Lost the telephone; seen in person' },
    body: FactorRemoval,
  },
  passkeys: {
    method: 'GET',
    path: '/api/admin/users/{id}/passkeys',
    summary: 'List the passkeys of a user',
    access: 'admin',
    audit: 'users.passkeys',
    query: pageQuery('AccountPasskeyQuery', {}),
    reply: pageOf('passkeys', AccountPasskey, 'AccountPasskeysPage'),
  },
  'passkey-remove': {
    method: 'DELETE',
    path: '/api/admin/users/{id}/passkeys/{passkeyId}',
    summary: 'Remove a passkey of a user who lost it; never of an admin',
    access: 'admin',
    personal: true,
    audit: 'users.passkey-remove',
    example: { reason: 'Lost the telephone; seen in person' },
    body: FactorRemoval,
  },
  reset: {
    method: 'POST',
    path: '/api/auth/reset',
    summary: 'Set a new password with the link of an admin; ends all sessions',
    access: 'public',
    audit: 'users.reset',
    example: {
      inviteToken: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
      password: 'a sentence that Grace alone knows',
    },
    body: object('PasswordReset', { inviteToken: text(200), password: newPassword() }),
    reply: object('PasswordSet', { username: text(50) }),
  },
});
