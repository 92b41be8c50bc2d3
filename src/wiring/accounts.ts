import { createPace } from '../kernel/pace.js';
import { createRate } from '../kernel/rate.js';
import type { Resource } from '../kernel/route.js';
import { scopesOf } from '../kernel/scope.js';
import { accountsOf } from '../resources/auth/accounts.js';
import { authResource } from '../resources/auth/routes.js';
import { TRIES_A_MINUTE } from '../resources/auth/rules.js';
import { type AuthDeps, PACED_MS, PACED_WAITING } from '../resources/auth/service.js';
import { channelsResource } from '../resources/channels/routes.js';
import { channelsStore } from '../resources/channels/store.js';
import { keysResource } from '../resources/keys/routes.js';
import { loginsResource } from '../resources/logins/routes.js';
import { loginsStore } from '../resources/logins/store.js';
import { passkeysResource } from '../resources/passkeys/routes.js';
import { relyingParties } from '../resources/passkeys/rules.js';
import { passkeysStore } from '../resources/passkeys/store.js';
import { tokensResource } from '../resources/tokens/routes.js';
import { tokensStore } from '../resources/tokens/store.js';
import { totpResource } from '../resources/totp/routes.js';
import { checkLogin } from '../resources/totp/service.js';
import { totpStore } from '../resources/totp/store.js';
import { createCodeTries } from '../resources/totp/tries.js';
import { factorsStore } from '../resources/users/factorstore.js';
import { invitationsStore } from '../resources/users/invitations.js';
import { type LinkDeps, openRegistration } from '../resources/users/invites.js';
import { usersResource } from '../resources/users/routes.js';
import { usersStore } from '../resources/users/store.js';
import { vaultResource } from '../resources/vault/routes.js';
import { credentialsStore } from '../resources/vault/store.js';
import { endpoints } from '../resources.js';
import { platformUses } from '../runtime/channels/settings.js';
import type { Parts } from './parts.js';
import { exposureOf } from './tunnel.js';

/** Who somebody is, and the ways to prove it. */
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

type Accounts = ReturnType<typeof accountsOf>;

const vaultOf = (parts: Parts, accounts: Accounts): Resource => {
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

const passkeysOf = ({ clock, store, runtime, port, tunnel }: Parts, accounts: Accounts) =>
  passkeysResource({
    ...{ passkeys: passkeysStore(store), accounts, outbox: runtime.outbox, clock },
    relyingParties: () => relyingParties({ port: port(), publicUrl: tunnel.publicUrl() }),
  });

type Shared = LinkDeps &
  Pick<Parameters<typeof usersResource>[0], 'signer' | 'outbox' | 'endSession'>;

/** What admins do with the accounts of others. */
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
