import type {
  AuditEntry,
  Client,
  Org,
  OrgDomain,
  OrgMember,
  Reply,
  ScimLogEntry,
} from '../../src/client/index.js';

export type OrgMemberItem = OrgMember & { id: string };

/** Settings, usage and last events of one organization. */
export interface OrgSettingsItem {
  id: string;
  org: Org;
  /** Usage of the last days (UTC), newest first. */
  days: Reply<'models', 'usage'>['usage'];
  /** `null` for members, who may not read it. */
  more: {
    domains: OrgDomain[];
    sso: Reply<'sso', 'test'>;
    requests: ScimLogEntry[];
    entries: AuditEntry[];
  } | null;
}

const query = { limit: 5 };

export const readOrgSettings = async (client: Client, id: string): Promise<OrgSettingsItem[]> => {
  const org = await client.orgs.get({ id });
  const [{ usage }, more] = await Promise.all([
    client.models.usage({ query: { orgId: id, by: 'day', limit: 31 } }),
    org.role === 'member' ? null : readMore(client, id),
  ]);
  return [{ id, org, days: usage, more }];
};

const readMore = async ({ sso, scim, audit }: Client, id: string) => {
  const [{ domains }, test, { requests }, { entries }] = await Promise.all([
    sso.domains({ id }),
    sso.test({ id }),
    scim.log({ id, query }),
    audit.org({ id, query }),
  ]);
  return { domains, sso: test, requests, entries };
};
