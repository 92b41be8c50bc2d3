import { accountsOf } from '../accounts/auth/account.js';
import { authResource } from '../accounts/auth/routes.js';
import { TRIES_A_MINUTE } from '../accounts/auth/rules.js';
import { type AuthDeps, PACED_MS, PACED_WAITING } from '../accounts/auth/service.js';
import { loginsStore } from '../accounts/loginsessions/queries.js';
import { loginsResource } from '../accounts/loginsessions/routes.js';
import { passkeysStore } from '../accounts/passkeys/queries.js';
import { passkeysResource } from '../accounts/passkeys/routes.js';
import { relyingParties } from '../accounts/passkeys/rules.js';
import { tokensStore } from '../accounts/tokens/queries.js';
import { tokensResource } from '../accounts/tokens/routes.js';
import { createCodeTries } from '../accounts/totp/attempts.js';
import { totpStore } from '../accounts/totp/queries.js';
import { totpResource } from '../accounts/totp/routes.js';
import { checkLogin } from '../accounts/totp/service.js';
import { factorsStore } from '../accounts/users/factorqueries.js';
import { invitationsStore } from '../accounts/users/invitequeries.js';
import { type LinkDeps, openRegistration } from '../accounts/users/invites.js';
import { usersStore } from '../accounts/users/queries.js';
import { usersResource } from '../accounts/users/routes.js';
import { endpoints } from '../api.js';
import { channelsStore } from '../channels/queries.js';
import { channelsResource } from '../channels/routes.js';
import { platformUses } from '../channels/settings.js';
import { createPace } from '../kernel/pace.js';
import { createRate } from '../kernel/rate.js';
import type { Resource } from '../kernel/route.js';
import { scopesOf } from '../kernel/scope.js';
import { keysResource } from '../system/keys/routes.js';
import { credentialsStore } from '../vault/queries.js';
import { vaultResource } from '../vault/routes.js';
import type { Parts } from './parts.js';
import { exposureOf } from './tunnel.js';

/** Builds the resources of accounts and of the ways to log in. */
export const accountResources = (parts: Parts): Resource[] => {
  const { config, clock, store, runtime, signer, sockets, secrets } = parts;
  const factors = totpStore(store);
  const { outbox } = runtime;
  const tries = createCodeTries({ store, clock, outbox });
  const totpDeps = { factors, tries, clock, ...secrets.totp };
  const deps: AuthDeps & Pick<Parts, 'tickets' | 'setup'> = {
    ...parts,
    policy: { exposure: () => exposureOf(config, parts.tunnel), tokenHours: config.tokenHours },
    outbox,
    checkCode: (userId, code, device) => checkLogin(totpDeps, { userId, code, device }),
    pace: createPace({ everyMs: PACED_MS, waiting: PACED_WAITING, wait: parts.wait }),
    tries: createRate(TRIES_A_MINUTE, clock),
    wait: async (ms) => {
      await parts.wait(ms);
    },
  };
  const accounts = accountsOf(deps);
  const tokens = tokensStore(store);
  const shared = { signer, clock, outbox, endSession: sockets.endSession };
  const invites = { invitations: invitationsStore(store), clock, accounts };
  const openInvite = openRegistration(invites);
  return [
    authResource({ ...shared, ...deps, ...accounts, openInvite, countTokens: tokens.countLive }),
    usersOf(parts, { ...shared, ...invites }),
    loginsResource({ ...shared, logins: loginsStore(store), tokenHours: config.tokenHours }),
    tokensResource({ ...shared, tokens, accounts, scopes: scopesOf(endpoints) }),
    keysResource(signer),
    totpResource({ ...totpDeps, accounts, outbox }),
    vaultOf(parts, accounts),
    channelsResource({ ...parts, ...runtime, accounts, channels: channelsStore(store) }),
    passkeysOf(parts, accounts),
  ];
};

type AccountVerbs = ReturnType<typeof accountsOf>;

const vaultOf = (parts: Parts, accounts: AccountVerbs): Resource => {
  const { clock, store, runtime, secrets, rekey } = parts;
  return vaultResource({
    credentials: credentialsStore({ store, platformUses: platformUses(secrets.channels) }),
    ...{ clock, accounts, ...secrets.vault, rekey },
    applied: async () => {
      await runtime.vault.refresh();
      await runtime.registry.refresh();
      await runtime.platformSettings.refresh();
    },
  });
};

const passkeysOf = ({ clock, store, runtime, port, tunnel }: Parts, accounts: AccountVerbs) =>
  passkeysResource({
    ...{ passkeys: passkeysStore(store), accounts, outbox: runtime.outbox, clock },
    relyingParties: () => relyingParties({ port: port(), publicUrl: tunnel.publicUrl() }),
  });

type Shared = LinkDeps &
  Pick<Parameters<typeof usersResource>[0], 'signer' | 'outbox' | 'endSession'>;

/** Builds the resource with which admins manage the accounts of others. */
const usersOf = ({ config, store, runtime, sockets, tunnel }: Parts, shared: Shared): Resource =>
  usersResource({
    ...shared,
    users: usersStore(store),
    factors: factorsStore(store),
    endUser: sockets.endUser,
    stopAgents: runtime.control.stopAll,
    publicUrl: tunnel.address,
    reach: tunnel.reach,
    isRegistrationClosed: config.registration === 'closed',
  });
