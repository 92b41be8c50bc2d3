import { mint } from '../../src/kernel/ids.js';
import type { TestApp } from '../harness/app.js';

/** Mailbox with an unreachable server. The stored beginnings are shown. */
export const openMailbox = async (app: TestApp, userId: string) => {
  const { db } = app.app.store;
  const at = new Date().toISOString();
  const credential = await db
    .selectFrom('credentials')
    .select('id')
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  const accountId = mint('mailaccount', Date.now());
  const server = JSON.stringify({ host: '127.0.0.1', port: 9, tls: 'implicit' });
  const account = { id: accountId, user_id: userId, address: 'ada@example.org', name: 'Ada' };
  const login = { auth: 'password', username: 'ada', credential_id: credential.id } as const;
  const settings = { imap: server, smtp: server, folders: '["INBOX"]', watch: 0, sync_days: 90 };
  const state = {
    save_sent: 0,
    status: 'ok',
    new_from: '',
    created_at: at,
    updated_at: at,
  } as const;
  await db
    .insertInto('mail_accounts')
    .values({ ...account, ...login, ...settings, ...state })
    .execute();
  let uid = 0;
  const has = { user_id: userId, account_id: accountId };
  return {
    message: async (subject: string, snippet: string): Promise<string> => {
      const id = mint('mail', Date.now());
      const sender = JSON.stringify({ name: subject, address: 'bob@example.org' });
      const place = { folder: 'INBOX', uid_validity: '1', uid: ++uid, thread_id: id, refs: '[]' };
      const people = { sender, reply_to: '[]', recipients: '[]', cc: '[]' };
      const facts = {
        unread: 1,
        flagged: 0,
        category: 'work',
        priority: 1,
        size: 1,
        automatic: 0,
      } as const;
      const files = JSON.stringify([
        { name: subject.slice(0, 300), mediaType: 'text/plain', bytes: 1, part: '2' },
      ]);
      const content = {
        subject,
        snippet,
        date: at,
        parts: '{"text":null,"html":null}',
        hops: 0,
        identity: id,
      };
      await db
        .insertInto('mail_messages')
        .values({ id, ...has, ...place, ...people, ...facts, ...content, attachments: files })
        .execute();
      return id;
    },
    /** Stores a refused mail with the server's reply. */
    sent: async (subject: string, reply: string): Promise<void> => {
      const to = { address: 'bob@example.org', place: 'to', status: 'refused', reply };
      const texts = { subject, text: '', refs: '[]', attachments: '[]', error: reply };
      const facts = { status: 'failed', attempts: 1, copy: 'none', created_at: at } as const;
      const id = mint('sentmail', Date.now());
      const message = { id, ...has, message_id: `<${id}@x>`, recipients: JSON.stringify([to]) };
      await db
        .insertInto('mail_sent')
        .values({ ...message, ...texts, ...facts })
        .execute();
    },
  };
};
