export interface UserRow {
  id: string;
  username: string;
  /** The name in NFKC with case folded, which must be unique. */
  username_key: string;
  /**
   * The common form of names that look alike (UTS 39). null: the user is older than this column.
   */
  username_skeleton: string | null;
  email: string | null;
  email_key: string | null;
  password_hash: string;
  role: 'admin' | 'user';
  disabled_at: string | null;
  created_at: string;
  /** The values that an admin set in place of the settings, as JSON. */
  limits: string;
  /** The permissions that an admin set in place of those of the role, as JSON. */
  permissions: string;
  /** Grows each time that all login sessions are ended. A login that began before is void. */
  login_epoch: number;
}

export interface AuthSessionRow {
  id: string;
  user_id: string;
  device: string | null;
  /** The address of the login. null: the session is older than this column. */
  address: string | null;
  created_at: string;
  /**
   * The time when the user last proved their identity, if this session was made from another one.
   * null: that of `created_at`.
   */
  proven_at: string | null;
  expires_at: string;
  ended_at: string | null;
  last_used_at: string | null;
  /** The admin who acts as the user in this session, and the admin's session with which it ends. */
  impersonator_id: string | null;
  impersonator_session_id: string | null;
}

export interface DeviceTokenRow {
  /** SHA-256 of the token, base64url. */
  digest: string;
  user_id: string;
  expires_at: string;
}

export interface CodeFailuresRow {
  /**
   * The party that tries codes: a user without a device token, a device, or a user's own sessions.
   */
  holder: string;
  user_id: string;
  count: number;
  /** The time of the first try. */
  since: string;
  /** The number of locks. Each lock is twice as long as the one before. */
  locks: number;
  locked_until: string | null;
  told_at: string | null;
}

export interface LoginPlaceRow {
  user_id: string;
  /** An IPv4 /24 or an IPv6 /64. */
  network: string;
  /** SHA-256 of the User-Agent, base64url. */
  program: string;
  /** The time when the user was notified of it, or registered there. */
  told_at: string;
}

export interface InviteRow {
  /** SHA-256 of the token, base64url. */
  digest: string;
  /** The user whose password it sets. null: it creates an account. */
  user_id: string | null;
  /** The role and e-mail address of the account that it creates. */
  role: UserRow['role'] | null;
  email: string | null;
  invited_by: string;
  expires_at: string;
  created_at: string;
}

export interface AccessTokenRow {
  id: string;
  user_id: string;
  name: string;
  /** A list as JSON. null: everything that its user may do. */
  scopes: string | null;
  created_at: string;
  expires_at: string;
  last_used_at: string | null;
}

export interface SigningKeyRow {
  id: string;
  sealed: string;
  created_at: string;
  /**
   * The time when the key was retired. After that it only verifies tokens that it signed before.
   * null: it signs.
   */
  retired_at: string | null;
}

export interface TotpRow {
  user_id: string;
  sealed: string;
  /** The time of the first code. null: set up, but not confirmed by a code yet. */
  enabled_at: string | null;
  /** The newest time step used, separately for each purpose. */
  enable_step: number | null;
  login_step: number | null;
  disable_step: number | null;
  created_at: string;
}

export interface PasskeyRow {
  id: string;
  user_id: string;
  name: string;
  relying_party: string;
  /** The id in base64url, as is the public key (COSE). */
  credential_id: string;
  public_key: string;
  counter: number;
  transports: string;
  created_at: string;
  last_used_at: string | null;
}

export interface PasskeyChallengeRow {
  /** The id of the challenge. A registration has the id of its session. */
  id: string;
  purpose: 'register' | 'authenticate';
  /** The user who may answer. null: any user. A text that is not a user's id: nobody. */
  user_id: string | null;
  relying_party: string;
  challenge: string;
  expires_at: string;
}

export interface PasskeyGrantRow {
  code_digest: string;
  user_id: string;
  session_id: string;
  /** SHA-256 of the verifier, base64url. */
  challenge: string;
  expires_at: string;
}
