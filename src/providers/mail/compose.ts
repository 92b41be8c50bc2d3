export interface MailAttachment {
  filename: string;
  contentType: string;
  content: Buffer;
}

/** RFC 5322, RFC 2045. Bcc is only on the envelope. */
export interface ComposedMail {
  messageId: string;
  /** Default: now. */
  date?: Date;
  from: { name: string; address: string };
  to: string[];
  cc?: string[];
  subject: string;
  text: string;
  html?: string | undefined;
  inReplyTo?: string | undefined;
  references?: string[];
  attachments?: MailAttachment[];
  /** No person wrote it, so no automatic reply (RFC 3834). */
  isAutomatic?: boolean;
  headers?: Record<string, string>;
}

/** RFC 3834, and Exchange. */
const AUTOMATIC = { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' };

/** CRLF line ends. */
export const composeMail = async ({
  isAutomatic,
  headers,
  ...mail
}: ComposedMail): Promise<Buffer> => {
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer');
  const node = new MailComposer({
    ...mail,
    headers: { ...(isAutomatic && AUTOMATIC), ...headers },
    newline: '\r\n',
    // Text must not refer to files or URLs to read.
    disableFileAccess: true,
    disableUrlAccess: true,
  }).compile();
  return node.build();
};
