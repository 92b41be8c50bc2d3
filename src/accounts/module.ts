import type { Base } from '../base.js';
import type { Config } from '../config.js';
import { createPace } from '../kernel/pace.js';
import { createPasswords, type PasswordCost } from '../kernel/password.js';
import { createRate } from '../kernel/rate.js';
import type { Outbound } from '../outbound/module.js';
import type { Secrets } from '../secrets/module.js';
import { auditStore } from './audit/queries.js';
import { auditResource } from './audit/routes.js';
import { createAccountOperations } from './auth/account.js';
import { makeFirstAccount } from './auth/firstaccount.js';
import { authStore } from './auth/queries.js';
import { authResource } from './auth/routes.js';
import { type Exposure, requiresSetupCode, TRIES_A_MINUTE } from './auth/rules.js';
import { LOGIN_PAUSE_MS, MAX_WAITING_LOGINS } from './auth/service.js';
import { openSetupCode, type SetupCode } from './auth/setupcode.js';
import { createTickets } from './auth/tickets.js';
import { createIdentify } from './identity.js';
import { loginsStore } from './loginsessions/queries.js';
import { loginsResource } from './loginsessions/routes.js';
import { passkeysStore } from './passkeys/queries.js';
import { passkeysResource } from './passkeys/routes.js';
import { relyingParties } from './passkeys/rules.js';
import { tokensStore } from './tokens/queries.js';
import { tokensResource } from './tokens/routes.js';
import { createCodeTries } from './totp/attempts.js';
import { totpStore } from './totp/queries.js';
import { totpResource } from './totp/routes.js';
import { checkLogin } from './totp/service.js';
import { factorsStore } from './users/factorqueries.js';
import { invitationsStore } from './users/invitequeries.js';
import { type InviteDeps, openRegistration } from './users/invites.js';
import { createManagedAccounts } from './users/managed.js';
import { usersStore } from './users/queries.js';
import { usersResource } from './users/routes.js';

export { auditReader, headProblem } from './audit/heads.js';
export { checkChain } from './audit/service.js';
export type { AccountOperations } from './auth/account.js';
export { type Exposure, isExposed } from './auth/rules.js';
export { passkeysPage } from './passkeys/page.js';
export type { ManagedAccounts } from './users/managed.js';
export { invitePage, resetPage } from './users/page.js';

export interface AccountsModuleDeps {
  config: Config;
  secrets: Secrets;
  outbound: Outbound;
  passwordCost: PasswordCost | undefined;
}

interface AccountsResourcesDeps {
  setup: SetupCode;
  reached: {
    exposure(): Exposure;
    /** Returns the public address for links; null if there is none. */
    address: InviteDeps['publicUrl'];
    /** Returns the permanent public address; null if there is none. */
    publicUrl(): string | null;
    reach: InviteDeps['reach'];
    port(): number;
  };
  /** Close the open sockets of a login session, or of a user. */
  sockets: {
    endSession(sessionId: string): void;
    endUser(userId: string): void;
    reconnectUser(userId: string): void;
  };
  /** Resolves when no agent of the user runs any more. */
  stopWork(userId: string): Promise<void>;
  scopes(): readonly string[];
}

export const openAccounts = async (base: Base, deps: AccountsModuleDeps) => {
  const { store, clock, home } = base;
  const { config } = deps;
  const { signer, sealers } = deps.secrets;
  const { outbox } = deps.outbound;
  const { tokenHours } = config;
  const users = authStore(store);
  const passwords = createPasswords(deps.passwordCost);
  const tokens = tokensStore(store);
  const tickets = createTickets({ signer, clock });
  await makeFirstAccount({ config, users, passwords, clock });
  return {
    identify: createIdentify({ signer, users, tokens, clock }),
    tickets,
    openSetup: async (exposure: Exposure): Promise<SetupCode> => {
      const isNeeded = requiresSetupCode(exposure) && !(await users.hasUsers());
      return openSetupCode({ home, clock, isNeeded });
    },
    resources: ({ setup, reached, sockets, stopWork, scopes }: AccountsResourcesDeps) => {
      const { endSession, endUser, reconnectUser } = sockets;
      const { seal, unseal } = sealers.totp;
      const factors = totpStore(store);
      const pause = (ms: number) => clock.wait(ms, undefined, { ref: false });
      const codeTries = createCodeTries({ store, clock, outbox });
      const checking = { factors, tries: codeTries, clock, seal, unseal };
      const auth = {
        users,
        passwords,
        signer,
        clock,
        outbox,
        policy: { exposure: reached.exposure, tokenHours },
        checkCode: (userId: string, code: string | undefined, device: string | null) =>
          checkLogin(checking, { userId, code, device }),
        limits: {
          pace: createPace({ everyMs: LOGIN_PAUSE_MS, waiting: MAX_WAITING_LOGINS, wait: pause }),
          tries: createRate(TRIES_A_MINUTE, clock),
          wait: pause,
        },
      };
      const accounts = createAccountOperations(auth);
      const invitations = invitationsStore(store);
      const openInvite = openRegistration({ invitations, clock, accounts });
      const managed = createManagedAccounts({
        auth: users,
        users: usersStore(store),
        clock,
        endSession,
        endUser,
        reconnectUser,
        stopWork,
      });
      return {
        accounts,
        managed,
        resources: [
          authResource({
            auth,
            accounts,
            setup,
            openInvite,
            tickets,
            countTokens: tokens.countLive,
            endSession,
          }),
          usersResource({
            users: usersStore(store),
            factors: factorsStore(store),
            invitations,
            accounts,
            signer,
            clock,
            outbox,
            endSession,
            endUser,
            stopWork,
            publicUrl: reached.address,
            reach: reached.reach,
            isRegistrationClosed: config.registration === 'closed',
          }),
          loginsResource({ logins: loginsStore(store), signer, clock, tokenHours, endSession }),
          tokensResource({ tokens, signer, clock, outbox, scopes, accounts, endSession }),
        ],
        totp: totpResource({ factors, tries: codeTries, clock, seal, unseal, outbox, accounts }),
        passkeys: passkeysResource({
          passkeys: passkeysStore(store),
          accounts,
          outbox,
          clock,
          relyingParties: () =>
            relyingParties({ port: reached.port(), publicUrl: reached.publicUrl() }),
        }),
        audit: auditResource({ audit: auditStore(store) }),
      };
    },
  };
};

export type Accounts = Awaited<ReturnType<typeof openAccounts>>;
