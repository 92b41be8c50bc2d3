import { json, literal, number, orNull, preset, type Row, table, text } from './table.js';

export const userTable = table('users', {
  id: text,
  username: text,
  /** NFKC with case folded. Must be unique. */
  username_key: text,
  /** Common form of names that look alike (UTS 39). Null for users older than this column. */
  username_skeleton: orNull(text),
  email: orNull(text),
  email_key: orNull(text),
  password_hash: text,
  role: literal<'admin' | 'user'>(),
  disabled_at: orNull(text),
  created_at: text,
  limits: preset(json()),
  permissions: preset(json()),
  /** Increases when all sessions are ended. A login that began before is invalid. */
  login_epoch: preset(number),
  /** Organization whose identity provider creates and disables the account. */
  managed_by: preset(orNull(text)),
});
export type UserRow = Row<typeof userTable>;

export const authSessionTable = table('auth_sessions', {
  id: text,
  user_id: text,
  device: orNull(text),
  /** Null for sessions older than this column. */
  address: orNull(text),
  created_at: text,
  /** Last proof of identity, if the session was created from another. Null means `created_at`. */
  proven_at: preset(orNull(text)),
  expires_at: text,
  ended_at: orNull(text),
  last_used_at: orNull(text),
  /** The impersonating admin, and the session with which the impersonation ends. */
  impersonator_id: preset(orNull(text)),
  impersonator_session_id: preset(orNull(text)),
  /** Latest end of a session that an identity provider started. */
  sso_expires_at: preset(orNull(text)),
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
  /** Who enters codes: a user without a device token, a device, or a user's sessions. */
  holder: text,
  user_id: text,
  count: number,
  since: text,
  /** Number of locks. Each is twice as long as the one before. */
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
  /** When the user was notified, or registered there. */
  told_at: text,
});
export type LoginPlaceRow = Row<typeof loginPlaceTable>;

export const inviteTable = table('invites', {
  /** SHA-256 of the token, base64url. */
  digest: text,
  /** User whose password is set. Null creates an account. */
  user_id: orNull(text),
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
  /** JSON list. Null means all rights of the user. */
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
  /** A retired key only verifies tokens signed before. Null for the signing key. */
  retired_at: orNull(text),
});
export type SigningKeyRow = Row<typeof signingKeyTable>;

export const totpTable = table('totp', {
  user_id: text,
  sealed: text,
  enabled_at: orNull(text),
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
  /** base64url, as the public key (COSE). */
  credential_id: text,
  public_key: text,
  counter: number,
  transports: json<string[]>(),
  created_at: text,
  last_used_at: orNull(text),
});
export type PasskeyRow = Row<typeof passkeyTable>;

export const passkeyChallengeTable = table('passkey_challenges', {
  /** Challenge ID. A registration uses the ID of its session. */
  id: text,
  purpose: literal<'register' | 'authenticate'>(),
  /** Who may decide. Null means any user, a text that is not a user ID nobody. */
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
