export interface UserRow {
  id: string;
  username: string;
  /** NFKC, case folded: what makes a name unique. */
  username_key: string;
  email: string | null;
  email_key: string | null;
  password_hash: string;
  role: 'admin' | 'user';
  disabled_at: string | null;
  created_at: string;
}

export interface AuthSessionRow {
  id: string;
  user_id: string;
  device: string | null;
  created_at: string;
  expires_at: string;
  ended_at: string | null;
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
