export interface UserRow {
  id: string;
  username: string;
  /** NFKC, case folded: what makes a name unique. */
  username_key: string;
  /** What names that look alike have in common (UTS 39); null: it is older than this column. */
  username_skeleton: string | null;
  email: string | null;
  email_key: string | null;
  password_hash: string;
  role: 'admin' | 'user';
  disabled_at: string | null;
  created_at: string;
  /** JSON: what an admin set in place of the settings. */
  limits: string;
  /** JSON: what an admin set in place of what the role has. */
  permissions: string;
  /** Grows with each end of all logins: one under way that began before it is void. */
  login_epoch: number;
}

export interface AuthSessionRow {
  id: string;
  user_id: string;
  device: string | null;
  /** Where its login came from; null: it is older than this column. */
  address: string | null;
  created_at: string;
  /** When the person was asked, where another login was handed over; null: with `created_at`. */
  proven_at: string | null;
  expires_at: string;
  ended_at: string | null;
  last_used_at: string | null;
  /** The admin who acts as the user in it, and the session that it ends with. */
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
  /** By whom codes are tried: a user without a device token, a device, or a user's own sessions. */
  holder: string;
  user_id: string;
  count: number;
  /** When the first of them was tried. */
  since: string;
  /** How often it was locked; each lock is twice as long as the one before. */
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
  /** When its user was told of it, or registered there. */
  told_at: string;
}

export interface InviteRow {
  /** SHA-256 of the token, base64url. */
  digest: string;
  /** Whose password it sets; null: it makes an account. */
  user_id: string | null;
  /** Of the account that it makes. */
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
  /** JSON, a list; null: everything that its user may do. */
  scopes: string | null;
  created_at: string;
  expires_at: string;
  last_used_at: string | null;
}

export interface SigningKeyRow {
  id: string;
  sealed: string;
  created_at: string;
  /** null: it signs. Otherwise it verifies what it signed before then. */
  retired_at: string | null;
}

export interface TotpRow {
  user_id: string;
  sealed: string;
  /** null: set up, and no code was seen yet. */
  enabled_at: string | null;
  /** The newest time step used, for each purpose of its own. */
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
  /** base64url, as the public key (COSE). */
  credential_id: string;
  public_key: string;
  counter: number;
  transports: string;
  created_at: string;
  last_used_at: string | null;
}

export interface PasskeyChallengeRow {
  /** A registration has the id of its session. */
  id: string;
  purpose: 'register' | 'authenticate';
  /** null: whoever answers. Text that is no id: nobody. */
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
