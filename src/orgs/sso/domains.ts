import { randomBytes } from 'node:crypto';
import Boom from '@hapi/boom';
import { iso } from '../../kernel/clock.js';
import { errorCode } from '../../kernel/failure.js';
import { mint } from '../../kernel/ids.js';
import { orNotFound } from '../../kernel/route.js';
import { UniqueViolation } from '../../store/engine/protocol.js';
import { type OrgDomainRow, orgDomainTable } from '../../store/tables/orgs.js';
import { viewer } from '../../store/view.js';
import { type By, findManaged } from '../service.js';
import { OrgDomain } from './contract.js';
import type { SsoDeps } from './deps.js';
import { MAX_DOMAINS } from './queries.js';

const recordName = (domain: string): string => `_adjutant.${domain}`;

export const viewDomain = viewer(orgDomainTable, OrgDomain, {
  name: ({ domain }: OrgDomainRow) => recordName(domain),
});

export const addDomain = async (
  deps: SsoDeps,
  { id, domain }: { id: string; domain: string },
  by: By,
): Promise<OrgDomainRow> => {
  await findManaged(deps, id, by.userId);
  const now = deps.clock.now();
  const row = {
    id: mint('domain', now),
    org_id: id,
    domain,
    value: `adjutant-${randomBytes(20).toString('hex')}`,
    verified_at: null,
    created_at: iso(now),
  };
  try {
    const isAdded = await deps.sso.insertDomain(row, [by.record({ target: id, data: { domain } })]);
    if (isAdded) return row;
  } catch (error) {
    if (!(error instanceof UniqueViolation)) throw error;
    throw Boom.conflict('The organization has this domain already', { code: 'domain_exists' });
  }
  throw Boom.conflict(`The organization has the maximum of ${MAX_DOMAINS} domains. Delete one`, {
    code: 'too_many_domains',
  });
};

export const verifyDomain = async (
  deps: SsoDeps,
  { id, domain }: { id: string; domain: string },
  by: By,
): Promise<OrgDomainRow> => {
  await findManaged(deps, id, by.userId);
  const row = await requireDomain(deps, id, domain);
  if (!(await hasRecord(deps, row))) {
    throw Boom.conflict(
      `The DNS record ${recordName(row.domain)} (TXT) does not have the value ${row.value}. Create it, wait a few minutes, and try again`,
      { code: 'domain_not_verified' },
    );
  }
  const record = by.record({ target: id, data: { domain: row.domain } });
  try {
    await deps.sso.verifyDomain(row.id, iso(deps.clock.now()), [record]);
  } catch (error) {
    if (!(error instanceof UniqueViolation)) throw error;
    throw Boom.conflict('Another organization has verified this domain', { code: 'domain_taken' });
  }
  return requireDomain(deps, id, domain);
};

export const deleteDomain = async (
  deps: SsoDeps,
  { id, domain }: { id: string; domain: string },
  by: By,
): Promise<void> => {
  await findManaged(deps, id, by.userId);
  const row = await requireDomain(deps, id, domain);
  const record = by.record({ target: id, data: { domain: row.domain } });
  if (!(await deps.sso.deleteDomain(id, row.domain, [record]))) throw noDomain();
};

const requireDomain = async ({ sso }: SsoDeps, orgId: string, domain: string) =>
  orNotFound(await sso.domain(orgId, domain.toLowerCase()), noDomain().message);

const noDomain = (): Boom.Boom => Boom.notFound('The organization does not have this domain');

/** A record may be split into several texts (RFC 7208, section 3.3). */
const hasRecord = async ({ resolveTxt }: SsoDeps, { domain, value }: OrgDomainRow) => {
  try {
    const records = await resolveTxt(recordName(domain));
    return records.some((texts) => texts.join('') === value);
  } catch (error) {
    // Codes of c-ares, such as ENOTFOUND.
    if (errorCode(error) === undefined) throw error;
    return false;
  }
};
