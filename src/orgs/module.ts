import dns from 'node:dns';
import type { AccountOperations, Exposure, ManagedAccounts } from '../accounts/module.js';
import { isExposed } from '../accounts/module.js';
import type { Base } from '../base.js';
import type { Outbound } from '../outbound/module.js';
import { orgsStore } from './queries.js';
import { orgsResource } from './routes.js';
import { ssoStore } from './sso/queries.js';
import { ssoResource } from './sso/routes.js';

export { ssoPage } from './sso/page.js';

interface OrgsResourcesDeps {
  accounts: AccountOperations;
  managed: ManagedAccounts;
  reached: {
    exposure(): Exposure;
    /** Returns the permanent public address; null if there is none. */
    publicUrl(): string | null;
    port(): number;
  };
}

export const openOrgs = ({ store, clock, http }: Base, { outbox }: Outbound) => {
  const orgs = orgsStore(store);
  return {
    resources: ({ accounts, managed, reached }: OrgsResourcesDeps) => [
      orgsResource({ orgs, clock, accounts, outbox }),
      ssoResource({
        orgs,
        sso: ssoStore(store),
        clock,
        http,
        accounts,
        managed,
        baseUrl: () => browserAddress(reached),
        resolveTxt,
      }),
    ],
  };
};

/** Browsers on this machine need no public address. */
const browserAddress = ({ exposure, publicUrl, port }: OrgsResourcesDeps['reached']) => {
  const url = publicUrl();
  if (url !== null) return url.startsWith('https://') ? url.replace(/\/+$/, '') : null;
  return isExposed(exposure()) ? null : `http://localhost:${port()}`;
};

const resolveTxt = (name: string): Promise<string[][]> => {
  const resolver = new dns.promises.Resolver({ timeout: 3000, tries: 2 });
  resolver.setServers(dns.getServers());
  return resolver.resolveTxt(name);
};
