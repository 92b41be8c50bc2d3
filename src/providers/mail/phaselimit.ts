import type SMTPConnection from 'nodemailer/lib/smtp-connection';
import { MailFault } from './fault.js';

/** An endless response resets the idle timeout with each line, so the total time is limited. */
export const limitTime = (connection: SMTPConnection, host: string, ms: number) => {
  let fault: MailFault | null = null;
  const timer = setTimeout(() => {
    fault = new MailFault('timeout', host);
    connection.close();
  }, ms);
  return { fault: () => fault, end: () => clearTimeout(timer) };
};
