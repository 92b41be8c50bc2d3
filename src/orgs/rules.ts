import type { OrgRole } from '../store/tables/orgs.js';

export const MANAGERS: OrgRole[] = ['owner', 'admin'];

/** Only owners may change an owner, or make one. `wanted` is null for a removal. */
export const mayChangeMember = (actor: OrgRole, current: OrgRole, wanted: OrgRole | null) =>
  actor === 'owner' || (actor === 'admin' && current !== 'owner' && wanted !== 'owner');

/** Managed accounts that an organization may have per member, since disabled accounts are kept. */
export const ACCOUNTS_PER_SEAT = 10;
