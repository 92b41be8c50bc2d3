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
  /** The sender's id, which is immutable on its platform. */
  sender_id: text,
  /** The sender's name when it was linked. */
  sender_name: text,
  verified_at: orNull(text),
  created_at: text,
  /** The current conversation of the channel. */
  session_id: preset(orNull(text)),
  /** For a webhook: its URL, its secret under the master key, and the code that verifies it. */
  url: preset(orNull(text)),
  secret_sealed: preset(orNull(text)),
  code_digest: preset(orNull(text)),
  code_expires_at: preset(orNull(text)),
  /** The time until which the platform accepts free text; null: not known, or always. */
  open_until: preset(orNull(text)),
  /** A second id of the same sender, by which its platform may name it too. */
  other_id: preset(orNull(text)),
});
/** A channel without the columns that only some channels use. */
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

/** A message of a channel that waits for a moment, to be joined with what its sender adds. */
export const messagePartsTable = table('message_parts', {
  id: preset(number),
  channel_id: text,
  text,
  /** 1 if the app of its sender has cut it off. */
  cut: number,
  untrusted: number,
  received_at: text,
  due_at: text,
});

/**
 * A code of a user, or, if that is null, of a sender. `asked_by` is the user for whom a code was sent
 * to an address, and who alone may redeem it.
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

/** A request of a user for a code that is sent to an address. */
export const codeRequestTable = table('code_requests', {
  user_id: text,
  kind: literal<ChannelKind>(),
  address: text,
  asked_at: text,
});
