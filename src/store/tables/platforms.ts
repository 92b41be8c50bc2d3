import type { ChannelKind } from './channels.js';
import { json, literal, number, orNull, type Row, table, text } from './table.js';

export const platformTable = table('platforms', {
  kind: literal<Exclude<ChannelKind, 'webhook' | 'push'>>(),
  /** Null means the real service. */
  base_url: orNull(text),
  /** Settings by name, as JSON. */
  fields: json(),
  /** Secrets by name, as sealed JSON. */
  secrets_sealed: orNull(text),
  updated_at: text,
});
export type PlatformRow = Row<typeof platformTable>;

/** Recorded once, however often the platform sends it. */
export const inboundEventTable = table('inbound_events', {
  kind: literal<ChannelKind>(),
  event_id: text,
  received_at: text,
});
export type InboundEventRow = Row<typeof inboundEventTable>;

/** Part of a message that was split. */
export const messagePartTable = table('sending_parts', {
  sending_id: text,
  /** From 0. */
  number: number,
  /** The platform's ID of the message. */
  receipt: orNull(text),
});
export type MessagePartRow = Row<typeof messagePartTable>;
