import type SMTPConnection from 'nodemailer/lib/smtp-connection';
import type { Clock } from '../../kernel/clock.js';
import { MailFault } from './fault.js';

/** An endless response resets the idle timeout with each line, so the total time is limited. */
export const limitTime = (
  clock: Clock,
  { connection, host, ms }: { connection: SMTPConnection; host: string; ms: number },
) => {
  let fault: MailFault | null = null;
  const end = clock.after(ms, () => {
    fault = new MailFault('timeout', host);
    connection.close();
  });
  return { fault: () => fault, end };
};
