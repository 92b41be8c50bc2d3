import { flag, json, literal, number, orNull, preset, type Row, table, text } from './table.js';

export type MessageStatus = 'queued' | 'sending' | 'sent' | 'failed' | 'unknown';

/** One message to one target: a channel or an outgoing webhook, never both. */
export const outboundMessageTable = table('sendings', {
  id: text,
  user_id: text,
  channel_id: orNull(text),
  webhook_id: orNull(text),
  /** The notification or outgoing event of the message, which is sent once to each target. */
  cause_id: text,
  kind: text,
  /** The content as JSON. */
  content: json(),
  status: literal<MessageStatus>(),
  attempts: preset(number),
  next_at: orNull(text),
  /** The platform's id of the message that arrived. */
  receipt: orNull(text),
  error: orNull(text),
  /** The number of times that its cause has come back to this daemon. */
  hops: preset(number),
  created_at: text,
  finished_at: orNull(text),
  /** The number of attempts when a person last sent it again. */
  resent_after: preset(number),
});
export type OutboundMessageRow = Omit<Row<typeof outboundMessageTable>, 'resent_after'>;

export const messageAttemptTable = table('sending_attempts', {
  sending_id: text,
  /** The number, from 1. */
  number: number,
  at: text,
  duration_ms: number,
  verdict: literal<'sent' | 'retry' | 'failed' | 'unknown'>(),
  /** The HTTP status. */
  status: orNull(number),
  /** The beginning of the target's reply. */
  excerpt: orNull(text),
  error: orNull(text),
});
export type MessageAttemptRow = Row<typeof messageAttemptTable>;

export const webhookTable = table('webhooks', {
  id: text,
  user_id: text,
  name: text,
  url: text,
  /** The event types as a JSON list, in which `*` stands for all. */
  events: json(),
  secret_sealed: text,
  old_secret_sealed: orNull(text),
  old_secret_until: orNull(text),
  credential_id: orNull(text),
  enabled: preset(flag),
  disabled_reason: orNull(text),
  /** The number of times that it was disabled. */
  disabled_count: preset(number),
  failing_since: orNull(text),
  created_at: text,
  updated_at: text,
  /** The most messages a minute; null: no limit. */
  rate_per_minute: preset(orNull(number)),
  /** The user's own headers as JSON, sealed. */
  headers_sealed: preset(orNull(text)),
  /** Their names as a JSON list. */
  header_names: preset(json<string[]>()),
});
export type WebhookRow = Row<typeof webhookTable>;

/** The number of a webhook's deliveries in one state; the database's triggers keep it. */
export const webhookCountTable = table('webhook_counts', {
  webhook_id: text,
  status: literal<MessageStatus>(),
  count: number,
});

/** An event for the outgoing webhooks that subscribe to it. */
export const outgoingEventTable = table('outgoing_events', {
  id: text,
  user_id: text,
  type: text,
  /** The data as JSON. */
  data: json(),
  effect_id: orNull(text),
  /** The number of times that its cause has come back to this daemon. */
  hops: preset(number),
  created_at: text,
  /**
   * The webhooks that were enabled and wanted it when it happened: a JSON object of their IDs and of
   * how often each had been disabled until then.
   */
  webhooks: preset(json()),
});
export type OutgoingEventRow = Row<typeof outgoingEventTable>;
/** An event that has just happened, before its webhooks are found. */
export type NewOutgoingEvent = Omit<OutgoingEventRow, 'webhooks'>;

/** The facts needed about the kinds of targets. */
export interface Targets {
  /** Kinds that recognize a repeat by its id. */
  repeatable: string[];
  /** Kinds that are sent at a limited pace, so that a message first waits for its turn. */
  paced: string[];
}

/** One message with its outgoing webhook, or null for a message to a channel. */
export type AddressedMessage = OutboundMessageRow & { webhook: WebhookRow | null };

export interface StartedMessage {
  /**
   * `begun`: it is `sending` now, durably. `lost`: it already was, and may have arrived; nothing
   * was changed. `over`: it has ended. `suspended`: its owner or its target is disabled. `waits`:
   * its turn has not come; nothing was changed.
   */
  verdict: 'begun' | 'waits' | 'lost' | 'over' | 'suspended';
  /** The message after this change. */
  message: AddressedMessage;
  /** The kind of its channel, or `endpoint` for an outgoing webhook. */
  target: string;
  /** The number of attempts since a person sent it again, including this one. */
  tries: number;
}
