import type SMTPConnection from 'nodemailer/lib/smtp-connection';
import { MailFault } from './fault.js';

/**
 * Closes a connection after so many milliseconds: each line of a server that never ends its answer
 * would put off the limit of its silence.
 */
export const limitTime = (connection: SMTPConnection, host: string, ms: number) => {
  let fault: MailFault | null = null;
  const timer = setTimeout(() => {
    fault = new MailFault('timeout', host);
    connection.close();
  }, ms);
  return { fault: () => fault, end: () => clearTimeout(timer) };
};
