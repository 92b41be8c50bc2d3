export type SendingStatus = 'queued' | 'sending' | 'sent' | 'failed' | 'unknown';

/** One message to one target: a channel or an outgoing webhook, never both. */
export interface SendingRow {
  id: string;
  user_id: string;
  channel_id: string | null;
  webhook_id: string | null;
  /** The notification or outgoing event of the message, which is sent once to each target. */
  cause_id: string;
  kind: string;
  /** The content as JSON. */
  content: string;
  status: SendingStatus;
  attempts: number;
  next_at: string | null;
  /** The platform's id of the message that arrived. */
  receipt: string | null;
  error: string | null;
  /** The number of times that its cause has come back to this daemon. */
  hops: number;
  created_at: string;
  finished_at: string | null;
}

export interface SendingAttemptRow {
  sending_id: string;
  /** The number, from 1. */
  number: number;
  at: string;
  duration_ms: number;
  verdict: 'sent' | 'retry' | 'failed' | 'unknown';
  /** The HTTP status. */
  status: number | null;
  /** The beginning of the target's reply. */
  excerpt: string | null;
  error: string | null;
}

export interface WebhookRow {
  id: string;
  user_id: string;
  name: string;
  url: string;
  /** The event types as a JSON list, in which `*` stands for all. */
  events: string;
  secret_sealed: string;
  old_secret_sealed: string | null;
  old_secret_until: string | null;
  credential_id: string | null;
  enabled: number;
  disabled_reason: string | null;
  failing_since: string | null;
  created_at: string;
  updated_at: string;
}

/** An event for the outgoing webhooks that subscribe to it. */
export interface OutgoingEventRow {
  id: string;
  user_id: string;
  type: string;
  /** The data as JSON. */
  data: string;
  effect_id: string | null;
  /** The number of times that its cause has come back to this daemon. */
  hops: number;
  created_at: string;
}

/** The facts needed about the kinds of targets. */
export interface Targets {
  /** Kinds that recognize a repeat by its id. */
  repeatable: string[];
  /** Kinds that are sent at a limited pace, so that a message first waits for its turn. */
  paced: string[];
}

/** One message with its outgoing webhook, or null for a message to a channel. */
export type AddressedSending = SendingRow & { webhook: WebhookRow | null };

export interface StartedSending {
  /**
   * `begun`: it is `sending` now, durably. `lost`: it already was, and may have arrived; nothing
   * was changed. `over`: it has ended. `suspended`: its owner or its target is disabled. `waits`:
   * its turn has not come; nothing was changed.
   */
  verdict: 'begun' | 'waits' | 'lost' | 'over' | 'suspended';
  /** The message after this change. */
  sending: AddressedSending;
  /** The kind of its channel, or `endpoint` for an outgoing webhook. */
  target: string;
  /** The number of attempts since a person sent it again, including this one. */
  tries: number;
}
