import type { AccountOperations, ManagedAccounts } from '../accounts/module.js';
import type { Base } from '../base.js';
import { createSerial } from '../kernel/serial.js';
import type { Outbound } from '../outbound/module.js';
import { orgsStore } from './queries.js';
import { orgsResource, viewOwnOrg } from './routes.js';
import { scimStore } from './scim/queries.js';
import { scimResource } from './scim/routes.js';
import { createScimService } from './scim/service.js';
import { identifyProvider } from './scim/settings.js';

interface OrgsResourcesDeps {
  accounts: AccountOperations;
  managed: ManagedAccounts;
  /** Returns the permanent public address. Null if there is none. */
  publicUrl(): string | null;
}

export const openOrgs = ({ store, clock }: Base, { outbox }: Outbound) => {
  const orgs = orgsStore(store);
  const scim = scimStore(store);
  const serial = createSerial();
  return {
    /** Returns the ID of the organization of a SCIM token. Null if the token is invalid. */
    identifyProvider: (token: string) => identifyProvider(scim, token),
    resources: ({ accounts, managed, publicUrl }: OrgsResourcesDeps) => {
      const deps = { orgs, scim, store, clock, accounts, managed, outbox, serial, publicUrl };
      const service = createScimService(deps);
      const viewOrg = async (id: string, userId: string) => viewOwnOrg(deps, id, userId);
      return [orgsResource(deps), scimResource({ ...deps, service, viewOrg })];
    },
  };
};

export type Orgs = ReturnType<typeof openOrgs>;
