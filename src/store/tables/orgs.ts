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
});
export type OrgIdentityRow = Row<typeof orgIdentityTable>;
