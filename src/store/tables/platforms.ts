import type { ChannelKind } from './channels.js';
import { json, literal, number, orNull, type Row, table, text } from './table.js';

export const platformTable = table('platforms', {
  kind: literal<Exclude<ChannelKind, 'webhook' | 'push'>>(),
  /** Null means the real service. */
  base_url: orNull(text),
  fields: json(),
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

export const messagePartTable = table('sending_parts', {
  sending_id: text,
  number: number,
  receipt: orNull(text),
});
export type MessagePartRow = Row<typeof messagePartTable>;
