export type SendingStatus = 'queued' | 'sending' | 'sent' | 'failed' | 'unknown';

/** One message to one target: a channel or an outgoing webhook, never both. */
export interface SendingRow {
  id: string;
  user_id: string;
  channel_id: string | null;
  webhook_id: string | null;
  /** The notification or the outgoing event that it tells of: once to each target. */
  cause_id: string;
  kind: string;
  /** JSON: what is said. */
  content: string;
  status: SendingStatus;
  attempts: number;
  next_at: string | null;
  /** What the platform calls the message that arrived. */
  receipt: string | null;
  error: string | null;
  /** How often what caused it came back to this daemon. */
  hops: number;
  created_at: string;
  finished_at: string | null;
}

export interface SendingAttemptRow {
  sending_id: string;
  /** From 1. */
  number: number;
  at: string;
  duration_ms: number;
  verdict: 'sent' | 'retry' | 'failed' | 'unknown';
  /** Of HTTP. */
  status: number | null;
  /** What the target answered, its beginning. */
  excerpt: string | null;
  error: string | null;
}

export interface WebhookRow {
  id: string;
  user_id: string;
  name: string;
  url: string;
  /** JSON: a list of event types, in which `*` stands for all. */
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

/** What happened, for the outgoing webhooks that want it. */
export interface OutgoingEventRow {
  id: string;
  user_id: string;
  type: string;
  /** JSON. */
  data: string;
  effect_id: string | null;
  /** How often what caused it came back to this daemon. */
  hops: number;
  created_at: string;
}

/** What is to be known of the kinds of targets. */
export interface Targets {
  /** Those that know a repeat by its id. */
  repeatable: string[];
  /** Those whose turn is to be waited for first. */
  paced: string[];
}

/** One message, and the outgoing webhook that it goes to; null: it goes to a channel. */
export type AddressedSending = SendingRow & { webhook: WebhookRow | null };

export interface StartedSending {
  /**
   * `begun`: it is `sending` now, durably. `lost`: it was already, and may have arrived; nothing was
   * changed. `over`: it has ended. `suspended`: its owner or its target is disabled. `waits`: it is
   * not its turn yet; nothing was changed.
   */
  verdict: 'begun' | 'waits' | 'lost' | 'over' | 'suspended';
  /** As it is after that. */
  sending: AddressedSending;
  /** The kind of its channel; `endpoint` for an outgoing webhook. */
  target: string;
  /** How often it was tried since a person sent it again, this time included. */
  tries: number;
}
