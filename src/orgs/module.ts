import type { AccountOperations } from '../accounts/module.js';
import type { Base } from '../base.js';
import type { Outbound } from '../outbound/module.js';
import { orgsStore } from './queries.js';
import { orgsResource } from './routes.js';

export const openOrgs = ({ store, clock }: Base, { outbox }: Outbound) => {
  const orgs = orgsStore(store);
  return {
    resources: ({ accounts }: { accounts: AccountOperations }) => [
      orgsResource({ orgs, clock, accounts, outbox }),
    ],
  };
};
