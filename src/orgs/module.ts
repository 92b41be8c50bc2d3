import dns from 'node:dns';
import type { AccountOperations, Exposure, ManagedAccounts } from '../accounts/module.js';
import { isExposed } from '../accounts/module.js';
import type { Base } from '../base.js';
import { createSerial } from '../kernel/serial.js';
import type { Outbound } from '../outbound/module.js';
import type { Statement } from '../store/engine/protocol.js';
import { moveOrDelete, type OrgDeletionPlan } from './deletion.js';
import { createOrganizations } from './organizations.js';
import { orgsStore } from './queries.js';
import { orgsResource, viewOwnOrg } from './routes.js';
import { scimStore } from './scim/queries.js';
import { scimResource } from './scim/routes.js';
import { createScimService } from './scim/service.js';
import { identifyProvider } from './scim/settings.js';
import { ssoStore } from './sso/queries.js';
import { ssoResource } from './sso/routes.js';

export { ssoPage } from './sso/page.js';

interface OwnedIds {
  hooks: string[];
  webhooks: string[];
}

/** What other modules do with the resources of an account. */
export interface OwnedWork {
  /** Resolves when no agent and no pipeline runs any more. */
  stop(userId: string): Promise<void>;
  cancelOperations(userId: string): Promise<void>;
  moveFiles(from: string, to: string): Promise<void>;
  removeFiles(userId: string): Promise<void>;
  /** After rows were moved. */
  reload(ids: OwnedIds): Promise<void>;
  /** After rows were deleted. */
  forget(userId: string, ids: OwnedIds): Promise<void>;
  resealed(from: string, to: string): Promise<Statement[]>;
}

interface OrgsResourcesDeps {
  accounts: AccountOperations;
  managed: ManagedAccounts;
  work: OwnedWork;
  reached: {
    exposure(): Exposure;
    /** Returns the permanent public address; null if there is none. */
    publicUrl(): string | null;
    port(): number;
  };
}

export const openOrgs = ({ store, clock, http, log }: Base, { outbox }: Outbound) => {
  const orgs = orgsStore(store);
  const scim = scimStore(store);
  const serial = createSerial();
  const { organizations, toMembers, lastMembers } = createOrganizations({ store, clock });

  const finishDeletion = async (work: OwnedWork, plan: OrgDeletionPlan): Promise<void> => {
    const { orgId, toUserId } = plan;
    await work.cancelOperations(orgId);
    await work.stop(orgId);
    if (toUserId !== null) await work.moveFiles(orgId, toUserId);
    const before = await orgs.inMemory(orgId);
    await moveOrDelete({ store, resealed: work.resealed }, plan);
    const left = await orgs.inMemory(orgId);
    await orgs.endDeletion(orgId);
    for (const ids of [before, left]) await work.forget(orgId, ids);
    if (toUserId !== null) await work.reload(before);
    await work.removeFiles(orgId);
  };

  return {
    organizations,
    toMembers,
    lastMembers,
    /** Continues deletions that were interrupted. */
    start: (work: OwnedWork): void => {
      const finish = async () => {
        for (const plan of await orgs.beingDeleted()) {
          await finishDeletion(work, plan).catch((err) =>
            log.warn({ err, orgId: plan.orgId }, 'the deletion of an organization is not finished'),
          );
        }
      };
      finish().catch((err) =>
        log.warn({ err }, 'unfinished deletions of organizations could not be read'),
      );
    },
    /** Returns the ID of the organization of a SCIM token. Null if the token is invalid. */
    identifyProvider: (token: string) => identifyProvider(scim, token),
    resources: ({ accounts, managed, reached, work }: OrgsResourcesDeps) => {
      const { publicUrl } = reached;
      const own = { orgs, scim, store, clock, outbox, serial };
      const ownWork = {
        stopWork: work.stop,
        finishDeletion: (plan: OrgDeletionPlan) => finishDeletion(work, plan),
      };
      const deps = { ...own, ...ownWork, accounts, managed, publicUrl };
      const service = createScimService(deps);
      const viewOrg = async (id: string, userId: string) => viewOwnOrg(deps, id, userId);
      return [
        orgsResource(deps),
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
        scimResource({ ...deps, service, viewOrg }),
      ];
    },
  };
};

export type Orgs = ReturnType<typeof openOrgs>;

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
