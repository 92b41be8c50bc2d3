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
  /** `http.request`, or `http` for all tools of a skill. */
  allowed_tools: string;
  /** `api.example.com`, with a port where it is not the scheme's own. */
  allowed_hosts: string;
  /** Of its newest value; counted from 1. */
  version: number;
  expires_at: string | null;
  last_used_at: string | null;
  rotated_at: string | null;
  /** null: nobody is reminded. */
  rotate_every_days: number | null;
  /** How many of the reminders of its expiry are told, or were past when it was set. */
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
  /** null: the newest. */
  valid_until: string | null;
  created_at: string;
}
