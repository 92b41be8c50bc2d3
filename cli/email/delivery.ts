import type { SentMail } from '../../src/client/index.js';

type Recipient = SentMail['recipients'][number];

const isFailed = ({ status }: Recipient): boolean => status === 'refused' || status === 'bounced';

/** One word, or `sent, 2 failed` for an e-mail that only some recipients received. */
export const deliveryWord = ({ status, recipients }: SentMail): string => {
  const failed = recipients.filter(isFailed).length;
  return status === 'sent' && failed > 0 ? `${status}, ${failed} failed` : status;
};

/** How many recipients received an e-mail, in words. */
export const describeDelivery = ({ status, recipients }: SentMail): string => {
  const all = recipients.length;
  const sent = recipients.filter((one) => one.status === 'sent').length;
  const of = `${sent} of ${all} recipients`;
  const soFar = sent === 0 ? 'nobody has received it' : `${of} have received it`;
  const words: Record<SentMail['status'], string> = {
    queued: `${soFar} yet`,
    sending: `${soFar} yet`,
    sent:
      sent === all ? 'the mail server accepted it for all recipients' : `only ${of} received it`,
    failed: 'nobody received it',
    cancelled: sent === 0 ? 'nobody received it' : `${of} had already received it`,
    unknown:
      'the reply of the mail server was lost, so it may have been sent. It is not resent automatically',
  };
  return `${status}: ${words[status]}`;
};

const RECIPIENT: Record<Recipient['status'], string> = {
  queued: 'has not received it yet',
  sent: 'the mail server accepted it',
  refused: 'did not receive it',
  bounced: 'did not receive it',
  cancelled: 'did not receive it',
  unknown: 'may have received it',
};

/** Whether a recipient received an e-mail and, if not, why. */
export const describeRecipient = ({ address, status, reply }: Recipient): string => {
  const why = reply === null || status === 'sent' ? '' : `: ${reply}`;
  return `${address}: ${status}, ${RECIPIENT[status]}${why}`;
};

/** `To`, `Cc` or `Bcc`. */
export const placeName = ({ place }: Recipient): string =>
  `${place.charAt(0).toUpperCase()}${place.slice(1)}`;
