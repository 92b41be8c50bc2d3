import Joi from 'joi';
import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../../kernel/contract/page.js';
import * as s from '../../kernel/contract/schema.js';

const host = () =>
  s.later(() =>
    Joi.string<string>()
      .max(253)
      .pattern(/^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$|^\[[0-9A-Fa-f:.]+\]$/, 'a host')
      .example('imap.example.org'),
  );
const port = () => s.whole(1, 65_535);
const tls = () =>
  s
    .oneOf('MailTls', 'implicit', 'starttls')
    .description('starttls: TLS begins before any login; there is no mode without TLS');
const Server = s.object('MailServer', { host: host(), port: port(), tls: tls() });
const serverChanges = (label: string) =>
  s
    .object(label, {
      host: s.optional(host()),
      port: s.optional(port()),
      tls: s.optional(tls()),
    })
    .description('What is not given stays');

const auth = () =>
  s
    .oneOf('MailAuth', 'password', 'oauth2')
    .description(
      'oauth2: the credential is JSON { clientId, clientSecret?, refreshToken, tokenEndpoint, scope }',
    );
const username = () =>
  s
    .text(254)
    .pattern(/^\P{Cc}*$/u, 'no control characters')
    .description('The address, unless given');
const folders = () =>
  s.list(s.text(500), 50).label('MailFolders').description('Folders that are read');
const syncDays = () => s.whole(1, 3650).description('Headers of so many days are kept');
const saveSent = () => s.flag().description('Put what is sent into the folder of sent mail');
const watch = () => s.flag().description('Process new mail as it arrives');

export const MailAccount = s.object('MailAccount', {
  id: s.id('mailaccount'),
  address: s.email(),
  name: s.text(200),
  imap: Server,
  smtp: Server,
  auth: auth(),
  username: s.text(254),
  credentialId: s.id('credential'),
  folders: folders(),
  watch: watch(),
  syncDays: syncDays(),
  saveSent: saveSent(),
  authservId: s
    .nullable(s.anyText(253))
    .description('Who the receiving server is in its authentication results; learnt by a test'),
  status: s
    .oneOf('MailAccountStatus', 'ok', 'failing', 'needs_login')
    .description('needs_login: its server refuses the credential'),
  lastSyncAt: s.nullable(s.time()),
  error: s.nullable(s.anyText(1000)),
  createdAt: s.time(),
  updatedAt: s.time(),
});
export type MailAccount = s.Static<typeof MailAccount>;

/** Text without ends of lines, and without characters that turn the direction of what follows. */
const VISIBLE = /^[^\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]*$/u;

const settings = {
  name: s.optional(
    s
      .later(() => Joi.string<string>().max(200).pattern(VISIBLE, 'no control characters'))
      .description('The name that recipients see; the address unless given'),
  ),
  imap: s.optional(Server),
  smtp: s.optional(Server),
  auth: s.optional(auth()),
  username: s.optional(username()),
  folders: s.optional(folders().min(1)),
  watch: s.optional(watch()),
  syncDays: s.optional(syncDays()),
  saveSent: s.optional(saveSent()),
};

const NewMailAccount = s.object('NewMailAccount', {
  address: s.email(),
  credentialId: s.text(80).description('A credential of yours in the vault'),
  ...settings,
});
export type NewMailAccount = s.Static<typeof NewMailAccount>;

const MailAccountChanges = s
  .ignoring(
    s.object('MailAccountChanges', {
      ...settings,
      credentialId: s.optional(s.text(80)),
      imap: s.optional(serverChanges('ImapServerChanges')),
      smtp: s.optional(serverChanges('SmtpServerChanges')),
    }),
    ...['id', 'address', 'authservId', 'status', 'lastSyncAt', 'error', 'createdAt', 'updatedAt'],
  )
  .min(1);
export type MailAccountChanges = s.Static<typeof MailAccountChanges>;

const Found = s.object('MailServers', {
  source: s.oneOf('MailServersSource', 'preset', 'autoconfig'),
  name: s.text(200),
  imap: Server,
  smtp: Server,
  username: s.text(254),
  oauth2: s.nullable(
    s.object('MailConsent', {
      authorizationEndpoint: s.text(500),
      tokenEndpoint: s.text(500),
      deviceEndpoint: s.nullable(s.text(500)),
      scope: s.text(500),
    }),
  ),
  hint: s.nullable(s.text(500)).description('How to log in there'),
});

export const MailAccountTest = s.object('MailAccountTest', {
  ok: s.flag(),
  steps: s.list(
    s.object('MailTestStep', {
      step: s.oneOf(
        'MailTestStepName',
        ...(['imap_login', 'imap_folders', 'imap_idle'] as const),
        ...(['smtp_login', 'smtp_send', 'arrival'] as const),
      ),
      status: s.oneOf('MailTestStepStatus', 'ok', 'failed', 'skipped'),
      detail: s.nullable(s.anyText(1000)),
      durationMs: s.whole(0, Number.MAX_SAFE_INTEGER),
    }),
    20,
  ),
  account: MailAccount,
});
export type MailAccountTest = s.Static<typeof MailAccountTest>;

export const mailaccounts = contract({
  list: endpoint.get('/api/email/accounts', {
    summary: 'List your mail accounts',
    query: pageQuery('MailAccountQuery', {}),
    reply: pageOf('accounts', MailAccount, 'MailAccountsPage'),
  }),
  create: endpoint.post('/api/email/accounts', {
    summary: 'Add a mailbox; its servers are found by the address, unless given',
    audit: 'mailaccounts.create',
    example: {
      address: 'ada@example.org',
      credentialId: 'credential_01jcx2kq7m8f3k2a9v5ztw4e6r',
      imap: { host: 'imap.example.org', port: 993, tls: 'implicit' },
      smtp: { host: 'smtp.example.org', port: 465, tls: 'implicit' },
    },
    body: NewMailAccount,
    reply: MailAccount,
    status: 201,
  }),
  get: endpoint.get('/api/email/accounts/{id}', {
    summary: 'Show a mail account',
    reply: MailAccount,
  }),
  update: endpoint.patch('/api/email/accounts/{id}', {
    summary: 'Change a mail account: what is given; the rest stays',
    audit: 'mailaccounts.update',
    example: { name: 'Ada Lovelace', saveSent: true },
    body: MailAccountChanges,
    reply: MailAccount,
  }),
  delete: endpoint.delete('/api/email/accounts/{id}', {
    summary:
      'Remove a mail account, and what is kept of its mail but what was sent; the mailbox stays as it is. 409 while e-mails of it wait',
    query: s.object('MailAccountDeletion', {
      force: s.optional(s.queryFlag().description('E-mails that wait are not sent any more')),
    }),
    audit: 'mailaccounts.delete',
  }),
  test: endpoint.post('/api/email/accounts/{id}/test', {
    summary: 'Try the whole way: log in, watch, send a message to yourself and see it arrive',
    unimpersonated: true,
    reply: MailAccountTest,
  }),
  folders: endpoint.get('/api/email/accounts/{id}/folders', {
    summary: 'List the folders of a mailbox',
    reply: s.object('MailFolderList', {
      folders: s.list(
        s.object('MailFolder', {
          name: s.text(500),
          use: s.nullable(s.text(50)).description('sent, junk, trash and so on'),
          messages: s.nullable(s.whole(0, Number.MAX_SAFE_INTEGER)),
          unread: s.nullable(s.whole(0, Number.MAX_SAFE_INTEGER)),
        }),
        10_000,
      ),
      problem: s
        .nullable(s.anyText(500))
        .description('Why only the folders that are read are listed; null: all are'),
    }),
  }),
  servers: endpoint.post('/api/email/servers', {
    summary: 'Find the servers for an address: of a known provider, or as the provider says',
    readsOnly: true,
    example: { address: 'ada@gmail.com' },
    body: s.object('MailServersQuery', { address: s.email() }),
    reply: Found,
  }),
});
