import type { ChannelKind } from './channels.js';

export interface PlatformRow {
  kind: Exclude<ChannelKind, 'email' | 'webhook'>;
  /** null: that of the real service. */
  base_url: string | null;
  /** JSON: what is set and no secret, by name. */
  fields: string;
  /** JSON under the master key: the secrets, by name. */
  secrets_sealed: string | null;
  updated_at: string;
}

export const platformColumns = [
  'kind',
  'base_url',
  'fields',
  'secrets_sealed',
  'updated_at',
] as const;

/** What a platform sent, once, however often it sends it. */
export interface InboundEventRow {
  kind: ChannelKind;
  event_id: string;
  received_at: string;
}

/** One message at the platform, of a sending that takes several. */
export interface SendingPartRow {
  sending_id: string;
  /** From 0. */
  number: number;
  /** What the platform calls it. */
  receipt: string | null;
}
