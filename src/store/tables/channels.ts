import { literal, number, orNull, preset, type Row, table, text } from './table.js';

export type ChannelKind =
  | 'slack'
  | 'teams'
  | 'mattermost'
  | 'discord'
  | 'telegram'
  | 'whatsapp'
  | 'ntfy'
  | 'email'
  | 'webhook'
  | 'push';

export const channelTable = table('channels', {
  id: text,
  user_id: text,
  kind: literal<ChannelKind>(),
  sender_id: text,
  sender_name: text,
  verified_at: orNull(text),
  created_at: text,
  session_id: preset(orNull(text)),
  /** Webhooks only: URL, sealed secret and verification code. */
  url: preset(orNull(text)),
  secret_sealed: preset(orNull(text)),
  code_digest: preset(orNull(text)),
  code_expires_at: preset(orNull(text)),
  /** Until when the platform accepts free text. Null if unknown or unlimited. */
  open_until: preset(orNull(text)),
  other_id: preset(orNull(text)),
});
export type ChannelRow = Omit<
  Row<typeof channelTable>,
  | 'session_id'
  | 'url'
  | 'secret_sealed'
  | 'code_digest'
  | 'code_expires_at'
  | 'open_until'
  | 'other_id'
>;

/** A message held briefly to be joined with the following ones. */
export const messagePartsTable = table('message_parts', {
  id: preset(number),
  channel_id: text,
  text,
  cut: number,
  untrusted: number,
  received_at: text,
  due_at: text,
});

/**
 * A code of a user, or of a sender if `user_id` is null. `asked_by`: user who requested the code
 * for an address, and alone may redeem it.
 */
export const linkCodeTable = table('link_codes', {
  code_digest: text,
  user_id: orNull(text),
  kind: orNull(literal<ChannelKind>()),
  sender_id: orNull(text),
  sender_name: orNull(text),
  expires_at: text,
  asked_by: preset(orNull(text)),
});
export type LinkCodeRow = Row<typeof linkCodeTable>;

export const codeRequestTable = table('code_requests', {
  user_id: text,
  kind: literal<ChannelKind>(),
  address: text,
  asked_at: text,
});
