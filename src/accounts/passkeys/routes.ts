import { CustomReply } from '../../kernel/contract/endpoint.js';
import { resource } from '../../kernel/route.js';
import type { PasskeyDeps } from './challenges.js';
import { passkeys } from './contract.js';
import { grant, redeemGrant } from './grant.js';
import { beginLogin, finishPasskeyLogin } from './login.js';
import { beginRegistration, deletePasskey, endRegistration, viewPasskey } from './service.js';

export const passkeysResource = (deps: PasskeyDeps) =>
  resource('passkeys', passkeys, {
    register: async ({ body: { password, response, name } }, by) =>
      response === undefined
        ? beginRegistration(deps, password, by)
        : new CustomReply(201, await endRegistration(deps, { response, name }, by)),
    authenticate: ({ body: { username, challengeId, response, device, deviceToken } }, by) =>
      challengeId === undefined || response === undefined
        ? beginLogin(deps, username, by)
        : finishPasskeyLogin(deps, { challengeId, response, device, deviceToken }, by),
    list: async ({ query }, by) => {
      const { rows, nextCursor } = await deps.passkeys.list(by.userId, query);
      return { passkeys: rows.map((row) => viewPasskey(deps, row)), nextCursor };
    },
    delete: ({ id }, by) => deletePasskey(deps, id, by),
    grant: ({ body }, by) => grant(deps, body.challenge, by),
    redeem: ({ body }, by) => redeemGrant(deps, body, by),
  });
