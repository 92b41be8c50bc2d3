import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { createPageSchema, pageQuery } from '../../kernel/contract/page.js';
import * as s from '../../kernel/contract/schema.js';

const role = () => s.oneOf('Role', 'admin', 'user');

const UserLimits = s.object('UserLimits', {
  dailyCostUsd: s
    .nullable(s.number(0, 1e6))
    .description(
      'Maximum cost per day (UTC) of all agents of the user together, in USD. `null` applies `ADJUTANT_DAILY_COST_USD`',
    ),
  dailyTokens: s
    .nullable(s.integer(0, 1e12))
    .description(
      'Maximum number of tokens per day (UTC) of all agents of the user together, including models without a price. `null` means no limit',
    ),
  dailySteps: s
    .nullable(s.integer(0, 1e9))
    .description(
      'Maximum number of model calls per day (UTC) of all agents of the user together. `null` means no limit',
    ),
});

const UserPermissions = s.object('UserPermissions', {
  shell: s
    .nullable(s.boolean())
    .description(
      'Whether the user may run shell commands. `null` applies the default of the role: allowed for admins only',
    ),
  mcp: s
    .nullable(s.boolean())
    .description(
      'Whether the user may use MCP servers that are not open to everyone. `null` applies the default of the role: allowed for admins only',
    ),
  index: s
    .nullable(s.boolean())
    .description(
      'Whether the user may index folders of the machine as knowledge. `null` applies the default of the role: allowed for admins only',
    ),
  email: s
    .nullable(s.boolean())
    .description(
      'Whether the user may send e-mail. `null` applies the default of the role: allowed for admins only',
    ),
});

export const Account = s.object('Account', {
  id: s.id('user'),
  username: s.text(50),
  email: s.nullable(s.text(254)).description('E-mail address of the user. `null` if there is none'),
  role: role(),
  disabled: s.boolean(),
  disabledAt: s
    .nullable(s.time())
    .description('Time at which the account was disabled. `null` if the account is enabled'),
  limits: UserLimits,
  permissions: UserPermissions,
  totpEnabled: s.boolean(),
  passkeys: s.integer(0, 1000).description('Number of registered passkeys'),
  createdAt: s.time(),
});
export type Account = s.Static<typeof Account>;

export const AccountChanges = s.ignoreReadOnly(
  s.partial(
    'AccountChanges',
    s.object('AccountChanges', {
      role: role(),
      disabled: s
        .boolean()
        .description(
          'Whether the account is disabled. Disabling stops the agents of the user and permanently revokes all login sessions and access tokens',
        ),
      limits: s.partial('UserLimitChanges', UserLimits),
      permissions: s.partial('UserPermissionChanges', UserPermissions),
      password: s.ownPassword(),
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
export type AccountChanges = s.Static<typeof AccountChanges>;

const Invitation = s.object('Invitation', {
  // Without a description, which would make a separate schema of the role. Defaults to `user`.
  role: s.optional(role()),
  email: s.optional(
    s.email().description('E-mail address of the new account. No other address is accepted'),
  ),
  expiresInHours: s.optional(
    s.integer(1, 720).description('Validity of the link in hours. Defaults to 72'),
  ),
  password: s.ownPassword(),
});
export type Invitation = s.Static<typeof Invitation>;

export const AccountPasskey = s.object('AccountPasskey', {
  id: s.id('passkey'),
  name: s.text(100),
  relyingParty: s
    .text(253)
    .description('Host name that the passkey is bound to: `localhost` or the public host'),
  createdAt: s.time(),
  lastUsedAt: s.nullable(s.time()).description('Time of the last use. `null` if not used yet'),
});
export type AccountPasskey = s.Static<typeof AccountPasskey>;

const reasoned = {
  reason: s
    .reason(500)
    .description('Reason for the action. Stored in the audit log and shown to the user'),
  password: s.ownPassword(),
};
const FactorRemoval = s.object('FactorRemoval', reasoned);
export type FactorRemoval = s.Static<typeof FactorRemoval>;

const Impersonation = s.object('Impersonation', reasoned);
export type Impersonation = s.Static<typeof Impersonation>;

export const users = contract({
  list: endpoint.get('/api/admin/users', {
    summary: 'List users',
    access: 'admin',
    audit: 'users.list',
    query: pageQuery('AccountQuery', {
      role: s.optional(role()),
      disabled: s.optional(s.queryFlag()),
      q: s.optional(s.text(254).description('Part of the username or e-mail address')),
    }),
    reply: createPageSchema('users', Account),
  }),
  update: endpoint.patch('/api/admin/users/{id}', {
    summary: 'Update a user',
    description:
      'Changes of `role` and `permissions` require a recent login or your password. The last admin cannot be demoted or disabled.',
    access: 'admin',
    audit: 'users.update',
    example: { limits: { dailyCostUsd: 5 } },
    body: AccountChanges,
    reply: Account,
  }),
  invite: endpoint.post('/api/admin/users/{id}/invite', {
    summary: "Create a registration link, or a user's password reset link",
    description:
      'With the ID `new`, creates an invite for a new account. With the ID of a user, creates a password reset link.',
    access: 'admin',
    audit: 'users.invite',
    example: { expiresInHours: 48 },
    body: Invitation,
    reply: s.object('Invite', {
      inviteToken: s.text(200),
      url: s
        .text(2000)
        .description('Invite link if the ID in the path is `new`; otherwise a password reset link'),
      expiresAt: s.time(),
      reach: s
        .oneOf('InviteReach', 'none', 'unverified', 'verified', 'failed')
        .description(
          'Result of the last check of the address in the link. `none` if the daemon has no public address',
        ),
    }),
    status: 201,
    secret: true,
  }),
  impersonate: endpoint.post('/api/admin/users/{id}/impersonate', {
    summary: 'Impersonate a user',
    description:
      'The session lasts at most one hour and is recorded under both names. The user is notified. Admins cannot be impersonated.',
    access: 'admin',
    personal: true,
    audit: 'users.impersonate',
    example: { reason: 'Ticket 4711: a hook that does not fire' },
    body: Impersonation,
    reply: s.object('ActingToken', {
      token: s
        .text(4096)
        .description('Token of the impersonation session, which lasts at most one hour'),
      expiresAt: s.time(),
    }),
    secret: true,
  }),
  'totp-remove': endpoint.delete('/api/admin/users/{id}/totp', {
    summary: 'Delete the authenticator app of a user',
    description:
      'Ends all login sessions of the user, who is notified. Fails with 403 if the user is an admin.',
    access: 'admin',
    personal: true,
    audit: 'users.totp-remove',
    example: { reason: 'Lost the telephone; seen in person' },
    body: FactorRemoval,
  }),
  passkeys: endpoint.get('/api/admin/users/{id}/passkeys', {
    summary: 'List the passkeys of a user',
    access: 'admin',
    audit: 'users.passkeys',
    query: pageQuery('AccountPasskeyQuery', {}),
    reply: createPageSchema('passkeys', AccountPasskey, 'AccountPasskeysPage'),
  }),
  'passkey-remove': endpoint.delete('/api/admin/users/{id}/passkeys/{passkeyId}', {
    summary: 'Delete a passkey of a user',
    description:
      'Ends all login sessions of the user, who is notified. Fails with 403 if the user is an admin.',
    access: 'admin',
    personal: true,
    audit: 'users.passkey-remove',
    example: { reason: 'Lost the telephone; seen in person' },
    body: FactorRemoval,
  }),
  reset: endpoint.post('/api/auth/reset', {
    summary: 'Reset your password with a reset link',
    description: 'A password reset ends all login sessions. Personal access tokens stay valid.',
    access: 'public',
    audit: 'users.reset',
    example: {
      inviteToken: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
      password: 'a sentence that Grace alone knows',
    },
    body: s.object('PasswordReset', { inviteToken: s.text(200), password: s.newPassword() }),
    reply: s.object('PasswordSet', { username: s.text(50) }),
  }),
});
