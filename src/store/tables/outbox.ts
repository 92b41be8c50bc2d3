import { flag, json, literal, number, orNull, preset, type Row, table, text } from './table.js';

export type MessageStatus = 'queued' | 'sending' | 'sent' | 'failed' | 'unknown';

/** One message to one target: a channel, an outgoing webhook, or the source of a hook's delivery. */
export const outboundMessageTable = table('sendings', {
  id: text,
  user_id: text,
  channel_id: orNull(text),
  webhook_id: orNull(text),
  /** Hook of a reply, whose cause is the execution. */
  hook_id: preset(orNull(text)),
  /** Of a reply: its object on the platform, such as `octo/hello#7`. */
  object: preset(orNull(text)),
  /** Notification or outgoing event. Sent once to each target. */
  cause_id: text,
  kind: text,
  content: json(),
  status: literal<MessageStatus>(),
  attempts: preset(number),
  next_at: orNull(text),
  receipt: orNull(text),
  error: orNull(text),
  hops: preset(number),
  created_at: text,
  finished_at: orNull(text),
  /** Attempts until the last manual resend. */
  resent_after: preset(number),
});
export type OutboundMessageRow = Omit<Row<typeof outboundMessageTable>, 'resent_after'>;

export const messageAttemptTable = table('sending_attempts', {
  sending_id: text,
  number: number,
  at: text,
  duration_ms: number,
  verdict: literal<'sent' | 'retry' | 'failed' | 'unknown'>(),
  status: orNull(number),
  excerpt: orNull(text),
  error: orNull(text),
});
export type MessageAttemptRow = Row<typeof messageAttemptTable>;

export const webhookTable = table('webhooks', {
  id: text,
  user_id: text,
  name: text,
  url: text,
  /** JSON list. `*` means all. */
  events: json(),
  secret_sealed: text,
  old_secret_sealed: orNull(text),
  old_secret_until: orNull(text),
  credential_id: orNull(text),
  enabled: preset(flag),
  disabled_reason: orNull(text),
  disabled_count: preset(number),
  failing_since: orNull(text),
  created_at: text,
  updated_at: text,
  /** Messages a minute. Null means no limit. */
  rate_per_minute: preset(orNull(number)),
  headers_sealed: preset(orNull(text)),
  header_names: preset(json<string[]>()),
});
export type WebhookRow = Row<typeof webhookTable>;

/** Deliveries of a webhook by state. Triggers update it. */
export const webhookCountTable = table('webhook_counts', {
  webhook_id: text,
  status: literal<MessageStatus>(),
  count: number,
});

export const outgoingEventTable = table('outgoing_events', {
  id: text,
  user_id: text,
  type: text,
  data: json(),
  effect_id: orNull(text),
  hops: preset(number),
  created_at: text,
  /** Webhooks enabled for the event: JSON object of their IDs and `disabled_count` at that time. */
  webhooks: preset(json()),
});
export type OutgoingEventRow = Row<typeof outgoingEventTable>;
export type NewOutgoingEvent = Omit<OutgoingEventRow, 'webhooks'>;

export interface Targets {
  /** Kinds that detect duplicates by ID. */
  repeatable: string[];
  paced: string[];
}

/** `webhook` is null for a channel and for a reply. */
export type AddressedMessage = OutboundMessageRow & { webhook: WebhookRow | null };

export interface StartedMessage {
  /**
   * `begun`: now `sending`, durably. `lost`: it was already `sending` and may have arrived. `over`:
   * it has ended. `suspended`: its owner or target is disabled. `waits`: not its turn yet. Only
   * `begun` changes anything.
   */
  verdict: 'begun' | 'waits' | 'lost' | 'over' | 'suspended';
  message: AddressedMessage;
  /** Kind of the channel, `endpoint` for an outgoing webhook, or `reply`. */
  target: string;
  /** Attempts since the last manual resend, including this one. */
  tries: number;
}
