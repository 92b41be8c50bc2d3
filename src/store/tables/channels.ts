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
  /** Immutable on its platform. */
  sender_id: string;
  /** What the sender was called when it was linked. */
  sender_name: string;
  verified_at: string | null;
  created_at: string;
}

/** What only some channels have. */
export interface ChannelPartsRow {
  /** The conversation that goes on there. */
  session_id: string | null;
  /** Of a webhook: where it is, its secret under the master key, and what verifies it. */
  url: string | null;
  secret_sealed: string | null;
  code_digest: string | null;
  code_expires_at: string | null;
}

/** Either a user's, or, where that is null, a sender's. */
export interface LinkCodeRow {
  code_digest: string;
  user_id: string | null;
  kind: ChannelKind | null;
  sender_id: string | null;
  sender_name: string | null;
  expires_at: string;
}
