/** A credential without its value. */
export interface CredentialRow {
  id: string;
  user_id: string;
  name: string;
  type:
    | 'api_key'
    | 'oauth_token'
    | 'password'
    | 'ssh_key'
    | 'certificate'
    | 'webhook_secret'
    | 'other';
  description: string | null;
  tags: string;
  /** Names such as `http.request`, or `http` for all tools of a skill. */
  allowed_tools: string;
  /** Names such as `api.example.com`, with a port if it is not the scheme's default. */
  allowed_hosts: string;
  /** The version of its newest value, counted from 1. */
  version: number;
  expires_at: string | null;
  last_used_at: string | null;
  rotated_at: string | null;
  /** The days between rotations. null: nobody is reminded. */
  rotate_every_days: number | null;
  /** The number of reminders of its expiry that were sent, or were due before it was set. */
  expiry_told: number;
  rotation_told: number;
  created_at: string;
  updated_at: string;
}

/** One value of a credential. */
export interface CredentialVersionRow {
  credential_id: string;
  version: number;
  user_id: string;
  sealed: string;
  /** The end of the value's validity. null: it is the newest value. */
  valid_until: string | null;
  created_at: string;
}
