/** A file that goes with a message. */
export interface MailAttachment {
  filename: string;
  contentType: string;
  content: Buffer;
}

/** A message before it is written as MIME (RFC 5322, RFC 2045). Bcc is on the envelope alone. */
export interface ComposedMail {
  messageId: string;
  /** The present time unless given. */
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
  /** True if no person has written it, so that nobody is to answer it by itself (RFC 3834). */
  isAutomatic?: boolean;
  /** Further headers of our own. */
  headers?: Record<string, string>;
}

/** The headers by which servers and programs know that no person wrote it (RFC 3834, Exchange). */
const AUTOMATIC = { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' };

/** Writes a message as MIME. Its lines end with CRLF. */
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
    // Nothing of the text may name a file or an address to be read.
    disableFileAccess: true,
    disableUrlAccess: true,
  }).compile();
  return node.build();
};
