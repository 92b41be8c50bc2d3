import { mint } from '../../../src/kernel/ids.js';
import type { MailMessageRow, SentMailRow } from '../../../src/store/tables/mail.js';
import type { TestApp } from '../app.js';

export interface SeededMailAccount {
  id: string;
  address: string;
  credentialId: string;
  imap: object;
  smtp: object;
}

let count = 0;

export const seedMailAccount = async (app: TestApp, token: string): Promise<SeededMailAccount> => {
  const n = ++count;
  const post = (path: string, body: object) => app.call('POST', path, { token, body });
  const value = 'the password of a mailbox';
  const credential = await post('/api/vault', { name: `private-mailbox-${n}`, value });
  const on = (host: string, port: number) => ({ host, port, tls: 'implicit' });
  const reply = await post('/api/email/accounts', {
    address: `private-${n}@mail.invalid`,
    credentialId: credential.body.id,
    imap: on('imap.mail.invalid', 993),
    smtp: on('smtp.mail.invalid', 465),
  });
  if (reply.status !== 201) throw new Error(`No mail account was made: ${reply.text}`);
  return reply.body;
};

/** Stores an e-mail with a file, of an account with an unreachable server. Resolves to its id. */
export const seedMail = async (
  app: TestApp,
  { id: user_id, token }: { id: string; token: string },
): Promise<string> => {
  const { id: account_id } = await seedMailAccount(app, token);
  const id = mint('mail', Date.now());
  const part = { part: '1', encoding: '7bit', charset: 'utf-8', bytes: 12 };
  const file = { ...part, part: '2', name: 'private.txt', mediaType: 'text/plain' };
  const row: MailMessageRow = {
    ...{ id, user_id, account_id, folder: 'INBOX', uid_validity: '1', uid: ++count },
    message_id: `<private-${count}@mail.invalid>`,
    thread_id: `thread_${count}`,
    refs: '[]',
    sender: JSON.stringify({ name: 'Bob', address: 'bob@mail.invalid' }),
    ...{ reply_to: '[]', recipients: '[]', cc: '[]', subject: 'A private subject' },
    date: new Date(Date.now()).toISOString(),
    ...{ snippet: 'A private text', unread: 1, flagged: 0 },
    parts: JSON.stringify({ text: part, html: null }),
    attachments: JSON.stringify([file]),
    ...{ list_unsubscribe: null, category: 'personal', priority: 1, authentication: null },
    size: 1000,
    ...{ identity: `id:private-${count}`, hops: 0, arrived_ms: null, processed_at: null },
    automatic: 0,
  };
  await app.app.store.db.insertInto('mail_messages').values(row).execute();
  return id;
};

/** Stores a sent e-mail. Resolves to its id. */
export const seedSentMail = async (
  app: TestApp,
  { id: user_id, token }: { id: string; token: string },
): Promise<string> => {
  const { id: account_id } = await seedMailAccount(app, token);
  const at = new Date(Date.now()).toISOString();
  const recipient = { address: 'bob@mail.invalid', place: 'to', status: 'sent', reply: null };
  const row: SentMailRow = {
    ...{ id: mint('sentmail', Date.now()), user_id, account_id },
    message_id: `<sent-${++count}@mail.invalid>`,
    recipients: JSON.stringify([recipient]),
    ...{ subject: 'A private subject', text: 'A private text', html: null },
    ...{ in_reply_to: null, refs: '[]', attachments: '[]', status: 'sent', attempts: 1 },
    ...{ next_at: null, error: null, copy: 'none', created_at: at, finished_at: at },
    hops: null,
  };
  await app.app.store.db.insertInto('mail_sent').values(row).execute();
  return row.id;
};
