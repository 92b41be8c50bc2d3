import type { Base } from '../../base.js';
import type { OriginalFiles } from '../../documents/module.js';
import type { Resource } from '../../kernel/route.js';
import type { Outbound } from '../../outbound/module.js';
import type { MailAccess } from '../accounts/access.js';
import type { MailAccountsStore } from '../accounts/queries.js';
import type { MailMessagesStore } from '../messages/queries.js';
import { createMailDelivery } from './deliver.js';
import { MAIL_JOB, sentMailStore } from './queries.js';
import { sendingResource } from './routes.js';
import type { SendingDeps } from './service.js';
import { createTestRecord } from './testrecord.js';

export interface MailSendingDeps {
  outbound: Pick<Outbound, 'queue' | 'outbox'>;
  access: MailAccess;
  mailbox: { accounts: MailAccountsStore; messages: MailMessagesStore };
  files: OriginalFiles;
  isPermitted(userId: string): Promise<boolean>;
  /** 0: no limit. */
  perHour: number;
}

/** Starts with the outbound queue. */
export const openMailSending = (base: Base, deps: MailSendingDeps) => {
  const { store, clock } = base;
  const { access, mailbox, files, isPermitted, perHour } = deps;
  const { queue, outbox } = deps.outbound;
  const sent = sentMailStore(store);
  const maySend = async (userId: string): Promise<boolean> =>
    !(await sent.isSuspended(userId)) && (await isPermitted(userId));
  queue.handle(
    MAIL_JOB,
    createMailDelivery({
      clock,
      sent,
      accounts: mailbox.accounts,
      access,
      files,
      outbox,
      maySend,
      delayed: queue.delayed,
    }),
  );
  const sending: SendingDeps = {
    clock,
    sent,
    mailbox,
    findAttachment: files.find,
    maySend,
    perHour,
    outgoing: queue,
  };
  return {
    sending,
    recordTest: createTestRecord(sending),
    hurry: queue.added,
    resources: (): Resource[] => [sendingResource(sending)],
  };
};
