import { flag, json, literal, number, orNull, preset, type Row, table, text } from './table.js';

export type OrgRole = 'owner' | 'admin' | 'member';

export const orgTable = table('orgs', {
  id: text,
  slug: text,
  name: text,
  approved_at: orNull(text),
  max_members: preset(number),
  created_at: text,
  /** IDs of the members who get its notifications. Empty means the owners. */
  notify: preset(json<string[]>()),
  /** While being deleted: the user who gets its resources, or empty to delete them. */
  deletion: preset(orNull(text)),
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

export interface SsoAttributes {
  username: string | null;
  email: string | null;
  name: string | null;
  groups: string | null;
}
export type IdpRole = Exclude<OrgRole, 'owner'>;

export const orgSsoTable = table('org_sso', {
  org_id: text,
  enabled: flag,
  /** Whether managed users must log in by single sign-on. */
  enforced: flag,
  entity_id: text,
  sso_url: text,
  /** PEM. */
  certificates: json<string[]>(),
  attributes: json<SsoAttributes>(),
  domains: json<string[]>(),
  default_role: literal<IdpRole>(),
  group_roles: json<Record<string, IdpRole>>(),
  allow_idp_initiated: flag,
  /** Days after the last login by SSO for which personal access tokens are valid. */
  token_days: number,
  updated_at: text,
});
export type OrgSsoRow = Row<typeof orgSsoTable>;

export const orgDomainTable = table('org_domains', {
  id: text,
  org_id: text,
  domain: text,
  value: text,
  verified_at: orNull(text),
  created_at: text,
});
export type OrgDomainRow = Row<typeof orgDomainTable>;

export const samlRequestTable = table('saml_requests', {
  /** ID of the authentication request (InResponseTo). */
  id: text,
  org_id: text,
  relay_digest: text,
  cookie_digest: text,
  return_to: text,
  link_user_id: orNull(text),
  link_session_id: orNull(text),
  expires_at: text,
});
export type SamlRequestRow = Row<typeof samlRequestTable>;

export const samlAssertionTable = table('saml_assertions', {
  org_id: text,
  assertion_id: text,
  expires_at: text,
});

export const samlLoginTable = table('saml_logins', {
  code_digest: text,
  org_id: text,
  user_id: text,
  cookie_digest: text,
  return_to: text,
  needs_confirmation: flag,
  session_expires_at: text,
  expires_at: text,
});
export type SamlLoginRow = Row<typeof samlLoginTable>;

export const orgSsoResultTable = table('org_sso_results', {
  id: text,
  org_id: text,
  at: text,
  /** Null for a login. */
  code: orNull(text),
  reason: orNull(text),
  /** Null unless the signature was verified. */
  name_id: orNull(text),
});
export type OrgSsoResultRow = Row<typeof orgSsoResultTable>;

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
