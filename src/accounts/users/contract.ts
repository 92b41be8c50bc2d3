import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../../kernel/contract/page.js';
import * as s from '../../kernel/contract/schema.js';

/** Needed later than ten minutes after login; a personal access token has no login. */
const password = () =>
  s.optional(s.text(256).description('Needed later than ten minutes after login'));

const role = () => s.oneOf('Role', 'admin', 'user');

const UserLimits = s.object('UserLimits', {
  dailyCostUsd: s
    .nullable(s.amount(0, 1e6))
    .description('What the agents may cost a day, in USD; null = as the setting says'),
  dailyTokens: s
    .nullable(s.whole(0, 1e12))
    .description(
      'Tokens that the agents may use a day, of models without a price too; null = any number',
    ),
  dailySteps: s
    .nullable(s.whole(0, 1e9))
    .description('Questions that the agents may ask models a day; null = any number'),
});

const UserPermissions = s.object('UserPermissions', {
  shell: s
    .nullable(s.flag())
    .description('May run commands; null = as the role has it: admins may'),
  mcp: s
    .nullable(s.flag())
    .description('May use MCP servers that are not for everyone; null as above'),
  index: s
    .nullable(s.flag())
    .description('May have folders of the machine indexed as knowledge; null as above'),
  email: s.nullable(s.flag()).description('May send e-mail; null as above'),
});

/** A user, as admins see it. */
export const Account = s.object('Account', {
  id: s.id('user'),
  username: s.text(50),
  email: s.nullable(s.text(254)),
  role: role(),
  disabled: s.flag(),
  disabledAt: s.nullable(s.time()),
  limits: UserLimits,
  permissions: UserPermissions,
  totpEnabled: s.flag(),
  passkeys: s.whole(0, 1000).description('How many are registered'),
  createdAt: s.time(),
});
export type Account = s.Static<typeof Account>;

export const AccountChanges = s.ignoring(
  s.partial(
    'AccountChanges',
    s.object('AccountChanges', {
      role: role(),
      disabled: s.flag().description('Ends login sessions, tokens, sockets and agents at once'),
      limits: s.partial('UserLimitChanges', UserLimits),
      permissions: s.partial('UserPermissionChanges', UserPermissions),
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
export type AccountChanges = s.Static<typeof AccountChanges>;

const Invitation = s.object('Invitation', {
  /**
   * Role of the new account: `user` unless given. It has no description, since that would make a
   * separate schema of it.
   */
  role: s.optional(role()),
  email: s.optional(s.email().description('The new account gets this address and no other')),
  expiresInHours: s.optional(s.whole(1, 720).description('72 unless given')),
  password: password(),
});
export type Invitation = s.Static<typeof Invitation>;

/** A user's passkey, as admins see it. */
export const AccountPasskey = s.object('AccountPasskey', {
  id: s.id('passkey'),
  name: s.text(100),
  relyingParty: s.text(253).description('The name it belongs to: `localhost`, or the public host'),
  createdAt: s.time(),
  lastUsedAt: s.nullable(s.time()),
});
export type AccountPasskey = s.Static<typeof AccountPasskey>;

const reasoned = {
  reason: s.reason(500).description('Kept in the audit log, and told to the user'),
  password: password(),
};
const FactorRemoval = s.object('FactorRemoval', reasoned);
export type FactorRemoval = s.Static<typeof FactorRemoval>;

const Impersonation = s.object('Impersonation', reasoned);
export type Impersonation = s.Static<typeof Impersonation>;

export const users = contract({
  list: endpoint.get('/api/admin/users', {
    summary: 'List all users',
    access: 'admin',
    audit: 'users.list',
    query: pageQuery('AccountQuery', {
      role: s.optional(role()),
      disabled: s.optional(s.queryFlag()),
      q: s.optional(s.text(254).description('A part of the name or of the e-mail address')),
    }),
    reply: pageOf('users', Account),
  }),
  update: endpoint.patch('/api/admin/users/{id}', {
    summary: 'Change the role, limits or permissions of a user; disable it or enable it again',
    access: 'admin',
    audit: 'users.update',
    example: { limits: { dailyCostUsd: 5 } },
    body: AccountChanges,
    reply: Account,
  }),
  invite: endpoint.post('/api/admin/users/{id}/invite', {
    summary: 'Make an invite (`new` as the id), or the link by which a user sets a new password',
    access: 'admin',
    audit: 'users.invite',
    example: { expiresInHours: 48 },
    body: Invitation,
    reply: s.object('Invite', {
      inviteToken: s.text(200),
      url: s.text(2000),
      expiresAt: s.time(),
      reach: s
        .oneOf('InviteReach', 'none', 'unverified', 'verified', 'failed')
        .description(
          'How sure it is that others reach the address in the link; none: it has no public one',
        ),
    }),
    status: 201,
    secret: true,
  }),
  impersonate: endpoint.post('/api/admin/users/{id}/impersonate', {
    summary: 'Act as a user for an hour, on the record; never as an admin',
    access: 'admin',
    personal: true,
    audit: 'users.impersonate',
    example: { reason: 'Ticket 4711: a hook that does not fire' },
    body: Impersonation,
    reply: s.object('ActingToken', { token: s.text(4096), expiresAt: s.time() }),
    secret: true,
  }),
  'totp-remove': endpoint.delete('/api/admin/users/{id}/totp', {
    summary: 'Remove the authenticator app of a user who lost it; never of an admin',
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
    reply: pageOf('passkeys', AccountPasskey, 'AccountPasskeysPage'),
  }),
  'passkey-remove': endpoint.delete('/api/admin/users/{id}/passkeys/{passkeyId}', {
    summary: 'Remove a passkey of a user who lost it; never of an admin',
    access: 'admin',
    personal: true,
    audit: 'users.passkey-remove',
    example: { reason: 'Lost the telephone; seen in person' },
    body: FactorRemoval,
  }),
  reset: endpoint.post('/api/auth/reset', {
    summary: 'Set a new password with the link of an admin; ends all login sessions',
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
