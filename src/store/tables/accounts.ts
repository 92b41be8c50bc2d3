import { json, literal, number, orNull, preset, type Row, table, text } from './table.js';

export const userTable = table('users', {
  id: text,
  username: text,
  /** The name in NFKC with case folded, which must be unique. */
  username_key: text,
  /**
   * The common form of names that look alike (UTS 39). null: the user is older than this column.
   */
  username_skeleton: orNull(text),
  email: orNull(text),
  email_key: orNull(text),
  password_hash: text,
  role: literal<'admin' | 'user'>(),
  disabled_at: orNull(text),
  created_at: text,
  /** The values that an admin set in place of the settings, as JSON. */
  limits: preset(json()),
  /** The permissions that an admin set in place of those of the role, as JSON. */
  permissions: preset(json()),
  /** Grows each time that all login sessions are ended. A login that began before is void. */
  login_epoch: preset(number),
});
export type UserRow = Row<typeof userTable>;

export const authSessionTable = table('auth_sessions', {
  id: text,
  user_id: text,
  device: orNull(text),
  /** The address of the login. null: the session is older than this column. */
  address: orNull(text),
  created_at: text,
  /**
   * The time when the user last proved their identity, if this session was made from another one.
   * null: that of `created_at`.
   */
  proven_at: preset(orNull(text)),
  expires_at: text,
  ended_at: orNull(text),
  last_used_at: orNull(text),
  /** The admin who acts as the user in this session, and the admin's session with which it ends. */
  impersonator_id: preset(orNull(text)),
  impersonator_session_id: preset(orNull(text)),
});
export type AuthSessionRow = Row<typeof authSessionTable>;

export const deviceTokenTable = table('device_tokens', {
  /** SHA-256 of the token, base64url. */
  digest: text,
  user_id: text,
  expires_at: text,
});
export type DeviceTokenRow = Row<typeof deviceTokenTable>;

export const codeFailuresTable = table('code_failures', {
  /**
   * The party that tries codes: a user without a device token, a device, or a user's own sessions.
   */
  holder: text,
  user_id: text,
  count: number,
  /** The time of the first try. */
  since: text,
  /** The number of locks. Each lock is twice as long as the one before. */
  locks: preset(number),
  locked_until: orNull(text),
  told_at: orNull(text),
});
export type CodeFailuresRow = Row<typeof codeFailuresTable>;

export const loginPlaceTable = table('login_places', {
  user_id: text,
  /** An IPv4 /24 or an IPv6 /64. */
  network: text,
  /** SHA-256 of the User-Agent, base64url. */
  program: text,
  /** The time when the user was notified of it, or registered there. */
  told_at: text,
});
export type LoginPlaceRow = Row<typeof loginPlaceTable>;

export const inviteTable = table('invites', {
  /** SHA-256 of the token, base64url. */
  digest: text,
  /** The user whose password it sets. null: it creates an account. */
  user_id: orNull(text),
  /** The role and e-mail address of the account that it creates. */
  role: orNull(literal<UserRow['role']>()),
  email: orNull(text),
  invited_by: text,
  expires_at: text,
  created_at: text,
});
export type InviteRow = Row<typeof inviteTable>;

export const loginFailureTable = table('login_failures', {
  account: text,
  address: text,
  count: number,
  last_at: text,
});

export const accessTokenTable = table('access_tokens', {
  id: text,
  user_id: text,
  name: text,
  /** A list as JSON. null: everything that its user may do. */
  scopes: orNull(json<string[]>()),
  created_at: text,
  expires_at: text,
  last_used_at: orNull(text),
});
export type AccessTokenRow = Row<typeof accessTokenTable>;

export const signingKeyTable = table('signing_keys', {
  id: text,
  sealed: text,
  created_at: text,
  /**
   * The time when the key was retired. After that it only verifies tokens that it signed before.
   * null: it signs.
   */
  retired_at: orNull(text),
});
export type SigningKeyRow = Row<typeof signingKeyTable>;

export const totpTable = table('totp', {
  user_id: text,
  sealed: text,
  /** The time of the first code. null: set up, but not confirmed by a code yet. */
  enabled_at: orNull(text),
  /** The newest time step used, separately for each purpose. */
  enable_step: orNull(number),
  login_step: orNull(number),
  disable_step: orNull(number),
  created_at: text,
});
export type TotpRow = Row<typeof totpTable>;

export const recoveryCodeTable = table('recovery_codes', {
  user_id: text,
  digest: text,
  used_at: orNull(text),
});

export const passkeyTable = table('passkeys', {
  id: text,
  user_id: text,
  name: text,
  relying_party: text,
  /** The id in base64url, as is the public key (COSE). */
  credential_id: text,
  public_key: text,
  counter: number,
  transports: json<string[]>(),
  created_at: text,
  last_used_at: orNull(text),
});
export type PasskeyRow = Row<typeof passkeyTable>;

export const passkeyChallengeTable = table('passkey_challenges', {
  /** The id of the challenge. A registration has the id of its session. */
  id: text,
  purpose: literal<'register' | 'authenticate'>(),
  /** The user who may decide. null: any user. A text that is not a user's id: nobody. */
  user_id: orNull(text),
  relying_party: text,
  challenge: text,
  expires_at: text,
});
export type PasskeyChallengeRow = Row<typeof passkeyChallengeTable>;

export const passkeyGrantTable = table('passkey_grants', {
  code_digest: text,
  user_id: text,
  session_id: text,
  /** SHA-256 of the verifier, base64url. */
  challenge: text,
  expires_at: text,
});
export type PasskeyGrantRow = Row<typeof passkeyGrantTable>;
