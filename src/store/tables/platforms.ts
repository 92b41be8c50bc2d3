import type { ChannelKind } from './channels.js';
import { json, literal, number, orNull, type Row, table, text } from './table.js';

export const platformTable = table('platforms', {
  kind: literal<Exclude<ChannelKind, 'webhook' | 'push'>>(),
  /** The base URL. null: that of the real service. */
  base_url: orNull(text),
  /** The settings that are not secret, by name, as JSON. */
  fields: json(),
  /** The secrets by name, as JSON sealed with the master key. */
  secrets_sealed: orNull(text),
  updated_at: text,
});
export type PlatformRow = Row<typeof platformTable>;

/** An event that a platform sent, recorded once however often it is sent. */
export const inboundEventTable = table('inbound_events', {
  kind: literal<ChannelKind>(),
  event_id: text,
  received_at: text,
});
export type InboundEventRow = Row<typeof inboundEventTable>;

/** One message on the platform, of a message that was split into several. */
export const messagePartTable = table('sending_parts', {
  sending_id: text,
  /** The number, from 0. */
  number: number,
  /** The platform's id of the message. */
  receipt: orNull(text),
});
export type MessagePartRow = Row<typeof messagePartTable>;
