import { iso } from '../../kernel/clock.js';
import { mint } from '../../kernel/ids.js';
import type { MailAccountRow, SentMailRow, SentRecipient } from '../../store/tables/mail.js';
import type { RecordMailTest } from '../accounts/accounttest.js';
import { insertMail, type SendingDeps } from './service.js';

const NO_REPLY_RECORDED = 'the daemon ended before the answer was recorded';

/** Counts toward the hourly limit. `unknown` until the server has replied. */
export const createTestRecord =
  (deps: SendingDeps): RecordMailTest =>
  async (account, { messageId, subject, text }) => {
    const now = iso(deps.clock.now());
    const recipient: SentRecipient = {
      address: account.address,
      place: 'to',
      status: 'unknown',
      reply: NO_REPLY_RECORDED,
    };
    const row: SentMailRow = {
      ...buildTestRow(account),
      id: mint('sentmail', deps.clock.now()),
      message_id: messageId,
      recipients: JSON.stringify([recipient]),
      subject,
      text,
      created_at: now,
      finished_at: now,
    };
    await insertMail(deps, row, []);
    return async (reply) => {
      const isSent = reply === null;
      const answered = {
        ...recipient,
        status: isSent ? ('sent' as const) : ('refused' as const),
        reply,
      };
      const changes: Partial<SentMailRow> = {
        status: isSent ? 'sent' : 'failed',
        error: reply,
        recipients: JSON.stringify([answered]),
      };
      await deps.sent.settle(row, changes, []);
    };
  };

const buildTestRow = ({ id, user_id }: MailAccountRow) => ({
  user_id,
  account_id: id,
  html: null,
  in_reply_to: null,
  refs: '[]',
  attachments: '[]',
  status: 'unknown' as const,
  attempts: 1,
  next_at: null,
  error: NO_REPLY_RECORDED,
  copy: 'none' as const,
  hops: 0,
});
