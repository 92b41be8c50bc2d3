import Boom from '@hapi/boom';
import { iso } from '../../kernel/clock.js';
import { BadUrl, EgressRefused } from '../../kernel/egress.js';
import { HttpFailure } from '../../kernel/failure.js';
import { badRequest, throwIfFaults } from '../../kernel/route.js';
import { notApproved } from '../../kernel/sharing.js';
import { type IdpRole, type OrgSsoRow, orgSsoTable } from '../../store/tables/orgs.js';
import { updateIf } from '../../store/updateif.js';
import { storedColumns, viewer } from '../../store/view.js';
import type { OwnOrgRow } from '../queries.js';
import { type By, findManaged } from '../service.js';
import { type SsoChanges, SsoSettings, type SsoTest } from './contract.js';
import { type SsoDeps, serviceProviderOf } from './deps.js';
import { certificateExpiry, parseCertificate, parseIdpMetadata } from './metadata.js';
import { createMetadata } from './saml.js';

const viewSettings = viewer(orgSsoTable, SsoSettings, {
  entityId: (row: OrgSsoRow & SsoView) => row.entity_id || null,
  ssoUrl: (row) => row.sso_url || null,
  serviceProvider: ({ provider }) => provider,
  updatedAt: (row) => (row.updated_at === NEVER ? null : row.updated_at),
});
interface SsoView {
  provider: SsoSettings['serviceProvider'];
}

export const readSettings = async (deps: SsoDeps, id: string, userId: string) => {
  const org = await findManaged(deps, id, userId);
  const row = await storedSettings(deps, id);
  return viewSettings({ ...row, provider: serviceProviderOf(deps, org.slug) });
};

const storedSettings = async ({ sso }: SsoDeps, id: string): Promise<OrgSsoRow> =>
  (await sso.settings(id)) ?? { ...DEFAULTS, org_id: id };

/** Keeps what another owner changed meanwhile in other fields. */
export const updateSettings = async (
  deps: SsoDeps,
  { id, changes }: { id: string; changes: SsoChanges },
  by: By,
): Promise<void> => {
  const { password, metadataXml, metadataUrl, ...given } = changes;
  const findOwned = () => findManaged(deps, id, by.userId, ['owner']);
  if ((await findOwned()).approved_at === null) throw notApproved();
  const metadata = await readMetadata(deps, { metadataXml, metadataUrl });
  await updateIf({
    clock: deps.clock,
    read: async () => {
      await findOwned();
      return storedSettings(deps, id);
    },
    write: async (stored, version) => {
      const merged = await mergeSettings(deps, stored, { ...given, ...metadata });
      if (merged.enabled === 1 && deps.baseUrl() === null) {
        throw Boom.conflict(
          'Single sign-on requires a public https address. Set up a tunnel, or set ADJUTANT_PUBLIC_URL',
          { code: 'public_url_required' },
        );
      }
      await deps.accounts.proveFresh(by, password);
      const { enabled, enforced, entity_id: entityId, sso_url: ssoUrl } = merged;
      const roles: Record<string, IdpRole> = JSON.parse(merged.group_roles);
      const access = { defaultRole: merged.default_role, groupRoles: roles };
      const data = {
        enabled: enabled === 1,
        enforced: enforced === 1,
        entityId,
        ssoUrl,
        ...access,
      };
      // Two spellings of a name are one group.
      const groupRoles = new Map(
        Object.entries(roles).map(([name, role]) => [deps.accounts.keyOf(name), role]),
      );
      const saving = { read: stored, ownerId: by.userId, groupRoles: [...groupRoles] };
      const row = { ...merged, updated_at: version };
      return (await deps.sso.saveSettings(row, saving, [by.record({ target: id, data })])) || null;
    },
  });
};

const NEVER = iso(0);

const DEFAULTS: Omit<OrgSsoRow, 'org_id'> = {
  enabled: 0,
  enforced: 0,
  entity_id: '',
  sso_url: '',
  certificates: '[]',
  attributes: JSON.stringify({ username: null, email: null, name: null, groups: null }),
  domains: '[]',
  default_role: 'member',
  group_roles: '{}',
  allow_idp_initiated: 0,
  token_days: 30,
  updated_at: NEVER,
};

const mergeSettings = async (
  deps: SsoDeps,
  stored: OrgSsoRow,
  changes: Omit<SsoChanges, 'password' | 'metadataXml' | 'metadataUrl'>,
): Promise<OrgSsoRow> => {
  const certificates = changes.certificates?.map(parseCertificate);
  // Roles of groups also apply to user provisioning, which needs no identity provider for logins.
  const isUsed = changes.enabled ?? stored.enabled === 1;
  throwIfFaults([
    ...(isUsed ? missingFields(stored, changes) : []),
    ...(certificates ?? []).flatMap((pem, at) =>
      pem === null
        ? [
            {
              path: `certificates.${at}`,
              message: 'must be an X.509 certificate (PEM) with an RSA key of 2048 bits or more',
            },
          ]
        : [],
    ),
    ...(certificates?.length === 0
      ? [{ path: 'certificates', message: 'must contain at least one certificate' }]
      : []),
    ...ssoUrlFaults(changes.ssoUrl),
    ...(await domainFaults(deps, stored.org_id, changes.domains)),
  ]);
  const pems = certificates?.filter((pem) => pem !== null);
  return { ...stored, ...storedColumns(orgSsoTable, { ...changes, certificates: pems }) };
};

const missingFields = (stored: OrgSsoRow, changes: Partial<SsoChanges>) => {
  const { entity_id: entityId, sso_url: ssoUrl, certificates } = stored;
  const before = {
    entityId,
    ssoUrl,
    certificates: certificates === DEFAULTS.certificates ? '' : certificates,
  };
  return (['entityId', 'ssoUrl', 'certificates'] as const).flatMap((path) =>
    before[path] !== '' || changes[path] !== undefined
      ? []
      : [
          {
            path,
            message: 'is required for single sign-on, unless metadataXml or metadataUrl is given',
          },
        ],
  );
};

const ssoUrlFaults = (url: string | undefined) => {
  if (url === undefined || /^https:\/\/|^http:\/\/(localhost|127\.[\d.]+|\[::1\])[:/]/.test(url)) {
    return [];
  }
  return [{ path: 'ssoUrl', message: 'must be an https address' }];
};

const domainFaults = async ({ sso }: SsoDeps, orgId: string, domains: string[] | undefined) => {
  const known = domains === undefined ? [] : await sso.domains(orgId);
  const verified = new Set(
    known.flatMap(({ domain, verified_at }) => (verified_at === null ? [] : domain)),
  );
  return (domains ?? []).flatMap((domain, at) =>
    verified.has(domain)
      ? []
      : [{ path: `domains.${at}`, message: 'is not verified. Add and verify the domain first' }],
  );
};

const readMetadata = async (
  deps: SsoDeps,
  { metadataXml, metadataUrl }: Pick<SsoChanges, 'metadataXml' | 'metadataUrl'>,
) => {
  if (metadataXml === undefined && metadataUrl === undefined) return {};
  const path = metadataXml === undefined ? 'metadataUrl' : 'metadataXml';
  const xml = metadataXml ?? (await fetchMetadata(deps, metadataUrl ?? ''));
  const parsed = await parseIdpMetadata(xml);
  if (typeof parsed === 'string') throw badRequest([{ path, message: parsed }]);
  return parsed;
};

/** The address passes the same guard as every address of a user. */
const fetchMetadata = async ({ http }: SsoDeps, url: string): Promise<string> => {
  try {
    const { status, body } = await http.request({ method: 'GET', url, maxBytes: 1024 * 1024 });
    if (status === 200) return body.toString();
    throw badRequest([{ path: 'metadataUrl', message: `returned status ${status}` }]);
  } catch (error) {
    const isKnown =
      error instanceof HttpFailure || error instanceof EgressRefused || error instanceof BadUrl;
    if (!isKnown) throw error;
    throw badRequest([{ path: 'metadataUrl', message: `cannot be read: ${error.message}` }]);
  }
};

/** Problems of the settings, and the results of recent responses. */
export const testSettings = async (deps: SsoDeps, id: string, userId: string): Promise<SsoTest> => {
  const org = await findManaged(deps, id, userId);
  const settings = await deps.sso.settings(id);
  const problems = problemsOf(deps, org, settings);
  const results = await deps.sso.results(id);
  return {
    ready: problems.length === 0,
    problems,
    results: results.map(({ at, code, reason, name_id: nameId }) => ({ at, code, reason, nameId })),
  };
};

const problemsOf = (
  { baseUrl, clock }: SsoDeps,
  org: OwnOrgRow,
  settings: OrgSsoRow | undefined,
): string[] => {
  const certificates: string[] = JSON.parse(settings?.certificates ?? '[]');
  const now = clock.now();
  return [
    ...(org.approved_at === null
      ? ['An admin of the installation has not approved the organization']
      : []),
    ...(settings ? [] : ['Single sign-on is not configured']),
    ...(settings?.enabled === 0 ? ['Single sign-on is not enabled'] : []),
    ...(baseUrl() === null ? ['The daemon has no public https address'] : []),
    ...(certificates.length > 0 && certificates.every((pem) => certificateExpiry(pem) <= now)
      ? ['All certificates of the identity provider have expired']
      : []),
    ...(org.members >= org.max_members ? ['The organization has its maximum of members'] : []),
  ];
};

/** The only organization with single sign-on if no slug is given. */
export const metadataOf = async (deps: SsoDeps, slug: string | undefined): Promise<string> => {
  const [only, ...others] = slug === undefined ? await deps.sso.slugs() : [slug];
  if (only === undefined || others.length > 0) {
    throw badRequest([{ path: 'org', message: 'is required: the short name of an organization' }]);
  }
  const sp = serviceProviderOf(deps, only);
  if (sp) return createMetadata(sp);
  throw Boom.conflict(
    'Single sign-on requires a public https address. Set up a tunnel, or set ADJUTANT_PUBLIC_URL',
    {
      code: 'public_url_required',
    },
  );
};
