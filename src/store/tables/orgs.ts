import { flag, literal, number, orNull, preset, type Row, table, text } from './table.js';

export type OrgRole = 'owner' | 'admin' | 'member';

export const orgTable = table('orgs', {
  id: text,
  slug: text,
  name: text,
  approved_at: orNull(text),
  max_members: preset(number),
  created_at: text,
});
export type OrgRow = Row<typeof orgTable>;

export const orgMemberTable = table('org_members', {
  id: text,
  org_id: text,
  user_id: text,
  role: literal<OrgRole>(),
  created_at: text,
});
export type OrgMemberRow = Row<typeof orgMemberTable>;

export const orgInviteTable = table('org_invites', {
  id: text,
  org_id: text,
  /** SHA-256 of the token, base64url. */
  digest: text,
  /** Address that the account must have. Null for any account. */
  email: orNull(text),
  role: literal<Exclude<OrgRole, 'owner'>>(),
  invited_by: text,
  expires_at: text,
  created_at: text,
});
export type OrgInviteRow = Row<typeof orgInviteTable>;

export const orgIdentityTable = table('org_identities', {
  id: text,
  org_id: text,
  user_id: text,
  /** As the identity provider writes it. Unique per organization, ignoring case. */
  user_name: text,
  user_name_key: text,
  external_id: orNull(text),
  /** Set by the first login by SAML. */
  issuer: orNull(text),
  name_id: orNull(text),
  email: orNull(text),
  given_name: orNull(text),
  family_name: orNull(text),
  display_name: orNull(text),
  active: flag,
  /** When the identity provider deleted the user. The account is kept, disabled. */
  deleted_at: orNull(text),
  last_login_at: orNull(text),
  created_at: text,
  updated_at: text,
  /** Time at which the identity provider disabled the account. */
  disabled_at: orNull(text),
});
export type OrgIdentityRow = Row<typeof orgIdentityTable>;

export const orgScimTable = table('org_scim', {
  org_id: text,
  enabled: flag,
  /** SHA-256 of the token, base64url. */
  token_digest: orNull(text),
  last_used_at: orNull(text),
});

export const orgGroupTable = table('org_groups', {
  id: text,
  org_id: text,
  /** Unique per organization, ignoring case. */
  display_name: text,
  display_key: text,
  external_id: orNull(text),
  /** Increases with each change, also of the members. */
  revision: number,
  created_at: text,
  updated_at: text,
});
export type OrgGroupRow = Row<typeof orgGroupTable>;

export const orgGroupMemberTable = table('org_group_members', {
  group_id: text,
  identity_id: text,
});

export const orgGroupRoleTable = table('org_group_roles', {
  org_id: text,
  /** Name of a group of the identity provider, in its normal form. */
  group_key: text,
  role: literal<Exclude<OrgRole, 'owner'>>(),
});

export const orgScimLogTable = table('org_scim_log', {
  id: text,
  org_id: text,
  method: text,
  path: text,
  status: number,
  detail: orNull(text),
  /** User who called instead of the identity provider. */
  username: orNull(text),
  created_at: text,
});
export type OrgScimLogRow = Row<typeof orgScimLogTable>;
