import { flag, json, literal, number, orNull, type Row, table, text } from './table.js';

/** A server of a mail account, as it is stored. */
interface StoredMailServer {
  host: string;
  port: number;
  tls: 'implicit' | 'starttls';
}

/** A mailbox from which a user reads e-mail and sends it. */
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
  /** The name under which the receiving server writes its authentication results. null: not known. */
  authserv_id: orNull(text),
  status: literal<'ok' | 'failing' | 'needs_login'>(),
  last_sync_at: orNull(text),
  error: orNull(text),
  /** The time from which on messages are new. */
  new_from: text,
  created_at: text,
  updated_at: text,
});
export type MailAccountRow = Row<typeof mailAccountTable>;

/** A person or a list, as a header names it. */
export interface MailAddress {
  name: string;
  address: string;
}

/** One part of the text of a message. */
export interface MailTextPart {
  part: string;
  encoding: string;
  charset: string;
  bytes: number;
}

/** A file of a message. */
export interface MailFile extends MailTextPart {
  name: string;
  mediaType: string;
}

export const MAIL_CATEGORIES = [
  ...(['personal', 'work', 'newsletter', 'notification'] as const),
  ...(['invoice', 'event', 'spam', 'other'] as const),
] as const;
export type MailCategory = (typeof MAIL_CATEGORIES)[number];

/** The headers of an e-mail. */
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
  parts: json<{ text: MailTextPart | null; html: MailTextPart | null }>(),
  attachments: json<MailFile[]>(),
  list_unsubscribe: orNull(text),
  category: literal<MailCategory>(),
  priority: number,
  authentication: orNull(json<{ spf: string; dkim: string; dmarc: string }>()),
  size: number,
  /** By what it is known wherever it lies: its Message-ID, or a digest of its header. */
  identity: text,
  /** The number of times that its cause has come back to this daemon, as its header says. */
  hops: number,
  /** The arrival as the server states it, in milliseconds. null: not known. */
  arrived_ms: orNull(number),
  processed_at: orNull(text),
  /** Set if a program has sent it, as its header says (RFC 3834). */
  automatic: flag,
});
export type MailMessageRow = Row<typeof mailMessageTable>;

/** A message that was processed, also if it is gone at the server. */
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

/** A recipient of a message that a user sends. */
export interface SentRecipient {
  address: string;
  place: 'to' | 'cc' | 'bcc';
  status: MailRecipientStatus;
  /** The last reply of a server about it; null: there was none. */
  reply: string | null;
}

/** A document that goes with a message. */
export interface SentAttachment {
  documentId: string;
  name: string;
  mediaType: string;
  bytes: number;
}

/** An e-mail that a user sends. */
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
  /** The number of times that its cause has come back to this daemon; null: a person has sent it. */
  hops: orNull(number),
});
export type SentMailRow = Row<typeof sentMailTable>;

/** An e-mail that is not sent yet. */
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
  /** Set if an agent that has read text from outside has written it. */
  untrusted: flag,
  created_at: text,
  updated_at: text,
  /** The effect of the call of a tool that made it. */
  effect_id: orNull(text),
});
export type MailDraftRow = Row<typeof mailDraftTable>;
