export type ChannelKind =
  | 'slack'
  | 'teams'
  | 'mattermost'
  | 'telegram'
  | 'whatsapp'
  | 'email'
  | 'webhook';

export interface ChannelRow {
  id: string;
  user_id: string;
  kind: ChannelKind;
  /** The sender's id, which is immutable on its platform. */
  sender_id: string;
  /** The sender's name when it was linked. */
  sender_name: string;
  verified_at: string | null;
  created_at: string;
}

/** Columns that only some channels use. */
export interface ChannelPartsRow {
  /** The current conversation of the channel. */
  session_id: string | null;
  /** For a webhook: its URL, its secret under the master key, and the code that verifies it. */
  url: string | null;
  secret_sealed: string | null;
  code_digest: string | null;
  code_expires_at: string | null;
}

/** A code of a user, or, if that is null, of a sender. */
export interface LinkCodeRow {
  code_digest: string;
  user_id: string | null;
  kind: ChannelKind | null;
  sender_id: string | null;
  sender_name: string | null;
  expires_at: string;
}
