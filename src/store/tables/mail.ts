import { flag, json, literal, number, orNull, type Row, table, text } from './table.js';

interface StoredMailServer {
  host: string;
  port: number;
  tls: 'implicit' | 'starttls';
}

export type MailLoginKind = 'imap' | 'smtp';

export const mailAccountTable = table('mail_accounts', {
  id: text,
  user_id: text,
  address: text,
  name: text,
  imap: json<StoredMailServer>(),
  smtp: json<StoredMailServer>(),
  auth: literal<'password' | 'oauth2'>(),
  username: text,
  credential_id: text,
  folders: json<string[]>(),
  watch: flag,
  sync_days: number,
  save_sent: flag,
  /** Name in the server's Authentication-Results. Null if unknown. */
  authserv_id: orNull(text),
  status: literal<'ok' | 'failing' | 'needs_login'>(),
  last_sync_at: orNull(text),
  error: orNull(text),
  new_from: text,
  created_at: text,
  updated_at: text,
  /** The rejected login while the status is `needs_login`. Null: both. */
  refused_login: orNull(literal<MailLoginKind>()),
});
export type MailAccountRow = Row<typeof mailAccountTable>;

export interface MailAddress {
  name: string;
  address: string;
}

export interface MailTextPart {
  part: string;
  encoding: string;
  charset: string;
  format?: 'flowed' | 'delsp';
  bytes: number;
}

export interface MailFile extends MailTextPart {
  name: string;
  mediaType: string;
}

export const MAIL_CATEGORIES = [
  ...(['personal', 'work', 'newsletter', 'notification'] as const),
  ...(['invoice', 'event', 'spam', 'other'] as const),
] as const;
export type MailCategory = (typeof MAIL_CATEGORIES)[number];

export const mailMessageTable = table('mail_messages', {
  id: text,
  user_id: text,
  account_id: text,
  folder: text,
  uid_validity: text,
  uid: number,
  message_id: orNull(text),
  thread_id: text,
  refs: json<string[]>(),
  sender: orNull(json<MailAddress>()),
  reply_to: json<MailAddress[]>(),
  recipients: json<MailAddress[]>(),
  cc: json<MailAddress[]>(),
  subject: text,
  date: text,
  snippet: text,
  unread: flag,
  flagged: flag,
  /** `omitted`: parts that are not in `attachments`. Unknown if absent. */
  parts: json<{ text: MailTextPart | null; html: MailTextPart | null; omitted?: number }>(),
  attachments: json<MailFile[]>(),
  list_unsubscribe: orNull(text),
  category: literal<MailCategory>(),
  priority: number,
  authentication: orNull(json<{ spf: string; dkim: string; dmarc: string }>()),
  size: number,
  /** Digest of Message-ID and header. Independent of the folder and the size. */
  identity: text,
  /** How often its cause has passed through this daemon, from its header. */
  hops: number,
  /** Arrival at the server in milliseconds. Null if unknown. */
  arrived_ms: orNull(number),
  processed_at: orNull(text),
  /** Whether a program sent the message, from its header (RFC 3834). */
  automatic: flag,
});
export type MailMessageRow = Row<typeof mailMessageTable>;

/** Also kept if the message no longer exists on the server. */
export const mailProcessedTable = table('mail_processed', {
  account_id: text,
  identity: text,
  folder: text,
  size: number,
  processed_at: text,
});

export type MailRecipientStatus =
  | 'queued'
  | 'sent'
  | 'refused'
  | 'bounced'
  | 'cancelled'
  | 'unknown';

export interface SentRecipient {
  address: string;
  place: 'to' | 'cc' | 'bcc';
  status: MailRecipientStatus;
  reply: string | null;
}

export interface SentAttachment {
  documentId: string;
  name: string;
  mediaType: string;
  bytes: number;
}

export const sentMailTable = table('mail_sent', {
  id: text,
  user_id: text,
  account_id: text,
  message_id: text,
  recipients: json<SentRecipient[]>(),
  subject: text,
  text,
  html: orNull(text),
  in_reply_to: orNull(text),
  refs: json<string[]>(),
  attachments: json<SentAttachment[]>(),
  status: literal<'queued' | 'sending' | 'sent' | 'failed' | 'cancelled' | 'unknown'>(),
  attempts: number,
  next_at: orNull(text),
  error: orNull(text),
  copy: literal<'none' | 'wanted' | 'saved' | 'failed'>(),
  created_at: text,
  finished_at: orNull(text),
  /** How often its cause has passed through this daemon. Null if sent by a person. */
  hops: orNull(number),
});
export type SentMailRow = Row<typeof sentMailTable>;

export const mailDraftTable = table('mail_drafts', {
  id: text,
  user_id: text,
  account_id: orNull(text),
  to: json<string[]>(),
  cc: json<string[]>(),
  bcc: json<string[]>(),
  subject: text,
  text,
  html: orNull(text),
  in_reply_to: orNull(text),
  attachments: json<string[]>(),
  untrusted: flag,
  created_at: text,
  updated_at: text,
  effect_id: orNull(text),
});
export type MailDraftRow = Row<typeof mailDraftTable>;
