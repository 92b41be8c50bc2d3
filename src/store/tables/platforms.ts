import type { ChannelKind } from './channels.js';

export interface PlatformRow {
  kind: Exclude<ChannelKind, 'email' | 'webhook'>;
  /** The base URL. null: that of the real service. */
  base_url: string | null;
  /** The settings that are not secret, by name, as JSON. */
  fields: string;
  /** The secrets by name, as JSON sealed with the master key. */
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

/** An event that a platform sent, recorded once however often it is sent. */
export interface InboundEventRow {
  kind: ChannelKind;
  event_id: string;
  received_at: string;
}

/** One message on the platform, of a message that was split into several. */
export interface SendingPartRow {
  sending_id: string;
  /** The number, from 0. */
  number: number;
  /** The platform's id of the message. */
  receipt: string | null;
}
