import { json, literal, number, orNull, preset, type Row, table, text } from './table.js';

/** A credential without its value. */
export const credentialTable = table('credentials', {
  id: text,
  user_id: text,
  name: text,
  type: literal<
    'api_key' | 'oauth_token' | 'password' | 'ssh_key' | 'certificate' | 'webhook_secret' | 'other'
  >(),
  description: orNull(text),
  tags: json<string[]>(),
  /** Names such as `http.request`, or `http` for all tools of a skill. */
  allowed_tools: json<string[]>(),
  /** Names such as `api.example.com`, with a port if it is not the scheme's default. */
  allowed_hosts: json<string[]>(),
  /** The version of its newest value, counted from 1. */
  version: number,
  expires_at: orNull(text),
  last_used_at: orNull(text),
  rotated_at: orNull(text),
  /** The days between rotations. null: nobody is reminded. */
  rotate_every_days: orNull(number),
  /** The number of reminders of its expiry that were sent, or were due before it was set. */
  expiry_told: preset(number),
  rotation_told: preset(number),
  created_at: text,
  updated_at: text,
});
export type CredentialRow = Row<typeof credentialTable>;

/** One value of a credential. */
export const credentialVersionTable = table('credential_versions', {
  credential_id: text,
  version: number,
  user_id: text,
  sealed: text,
  /** The end of the value's validity. null: it is the newest value. */
  valid_until: orNull(text),
  created_at: text,
});
export type CredentialVersionRow = Row<typeof credentialVersionTable>;
