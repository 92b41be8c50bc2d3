import { json, literal, number, orNull, preset, type Row, table, text } from './table.js';

export const credentialTable = table('credentials', {
  id: text,
  user_id: text,
  name: text,
  type: literal<
    'api_key' | 'oauth_token' | 'password' | 'ssh_key' | 'certificate' | 'webhook_secret' | 'other'
  >(),
  description: orNull(text),
  tags: json<string[]>(),
  /** `http.request`, or `http` for a whole skill. */
  allowed_tools: json<string[]>(),
  /** `api.example.com`, with a port if it is not the default. */
  allowed_hosts: json<string[]>(),
  version: number,
  expires_at: orNull(text),
  last_used_at: orNull(text),
  rotated_at: orNull(text),
  /** Days between rotations. Null means no reminder. */
  rotate_every_days: orNull(number),
  /** Sent expiry reminders, or those due before the expiry was set. */
  expiry_told: preset(number),
  rotation_told: preset(number),
  created_at: text,
  updated_at: text,
});
export type CredentialRow = Row<typeof credentialTable>;

export const credentialVersionTable = table('credential_versions', {
  credential_id: text,
  version: number,
  user_id: text,
  sealed: text,
  /** Null for the newest value. */
  valid_until: orNull(text),
  created_at: text,
});
export type CredentialVersionRow = Row<typeof credentialVersionTable>;
