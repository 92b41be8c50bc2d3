import { resource } from '../../kernel/route.js';
import { users } from './contract.js';
import { type FactorsDeps, listPasskeys, removePasskey, removeTotp } from './factors.js';
import { type ImpersonateDeps, impersonate } from './impersonate.js';
import { type InviteDeps, makeInvite } from './invites.js';
import { issuePasswordReset, type ResetDeps } from './reset.js';
import { type UsersDeps, updateUser, viewUser } from './service.js';

export const usersResource = (
  deps: UsersDeps & InviteDeps & ImpersonateDeps & ResetDeps & FactorsDeps,
) =>
  resource('users', users, {
    list: async ({ query }) => {
      const { rows, nextCursor } = await deps.users.list(query);
      return { users: rows.map(viewUser), nextCursor };
    },
    update: ({ id, body }, by) => updateUser(deps, { id, changes: body }, by),
    invite: async ({ id, body }, by) => makeInvite(deps, { id, request: body }, by),
    impersonate: ({ id, body }, by) => impersonate(deps, { id, request: body }, by),
    'totp-remove': ({ id, body }, by) => removeTotp(deps, { id, request: body }, by),
    passkeys: ({ id, query }) => {
      return listPasskeys(deps, id, query);
    },
    'passkey-remove': ({ id, passkeyId, body }, by) =>
      removePasskey(deps, { id, passkeyId, request: body }, by),
    reset: ({ body }, by) => issuePasswordReset(deps, body, by),
  });
