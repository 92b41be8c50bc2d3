import Joi from 'joi';
import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { createPageSchema, pageQuery } from '../../kernel/contract/page.js';
import * as s from '../../kernel/contract/schema.js';
import { normalizeHost } from '../../kernel/contract/url.js';

const host = () =>
  s.lazy(() =>
    Joi.string<string>()
      .max(253)
      .custom(normalizeHost)
      .pattern(
        /^(?!.*\.\.)[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$|^\[[0-9A-Fa-f:.]+\]$/,
        'a host',
      )
      .example('imap.example.org'),
  );
const port = () => s.integer(1, 65_535);
const tls = () =>
  s
    .oneOf('MailTls', 'implicit', 'starttls')
    .description(
      'TLS mode. `starttls` upgrades the connection before login. Unencrypted connections are not supported',
    );
const Server = s.object('MailServer', { host: host(), port: port(), tls: tls() });
const serverChanges = (label: string) =>
  s
    .object(label, {
      host: s.optional(host()),
      port: s.optional(port()),
      tls: s.optional(tls()),
    })
    .description('Server settings to change. Omitted fields are unchanged');

const auth = () =>
  s
    .oneOf('MailAuth', 'password', 'oauth2')
    .description(
      'Authentication method. For `oauth2` the credential is JSON: { clientId, clientSecret?, refreshToken, tokenEndpoint, scope? }',
    );
const username = () =>
  s
    .text(254)
    .pattern(/^\P{Cc}*$/u, 'no control characters')
    .description(
      'Login name. Defaults to the e-mail address, or to its part before the @ if the detected server requires that',
    );
const folders = () =>
  s.list(s.text(500), 50).label('MailFolders').description('Folders to read. Defaults to `INBOX`');
const syncDays = () =>
  s
    .integer(1, 3650)
    .description('Number of days for which message headers are stored. Defaults to 90');
const saveSent = () =>
  s
    .boolean()
    .description(
      'Whether to save sent messages in the sent folder of the mailbox. Defaults to `false`',
    );
const watch = () =>
  s.boolean().description('Whether to process new mail at once on arrival. Defaults to `false`');

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
    .description(
      'Name of the receiving server in the `Authentication-Results` header. `null` until an account test detects the name',
    ),
  status: s
    .oneOf('MailAccountStatus', 'ok', 'failing', 'needs_login')
    .description(
      'Status of the account. `failing`: the server is unreachable or returns errors. `needs_login`: the server rejects the credential',
    ),
  lastSyncAt: s
    .nullable(s.time())
    .description('Time of the last synchronization. `null` if there was none'),
  error: s.nullable(s.anyText(1000)).description('Error message. `null` without an error'),
  createdAt: s.time(),
  updatedAt: s.time(),
});
export type MailAccount = s.Static<typeof MailAccount>;

/** No line breaks and no bidirectional control characters. */
const VISIBLE = /^[^\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]*$/u;

const settings = {
  name: s.optional(
    s
      .lazy(() => Joi.string<string>().max(200).pattern(VISIBLE, 'no control characters'))
      .description('Sender name shown to recipients. Defaults to the e-mail address'),
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
  credentialId: s.text(80).description('ID of your vault credential for the account'),
  ...settings,
});
export type NewMailAccount = s.Static<typeof NewMailAccount>;

const MailAccountChanges = s
  .ignoreReadOnly(
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
  source: s
    .oneOf('MailServersSource', 'preset', 'autoconfig', 'given')
    .description('Origin of the servers. `given` if the request contains both servers'),
  name: s.text(200),
  imap: Server,
  smtp: Server,
  username: s.text(254),
  oauth2: s
    .nullable(
      s.object('MailConsent', {
        authorizationEndpoint: s.text(500),
        tokenEndpoint: s.text(500),
        deviceEndpoint: s
          .nullable(s.text(500))
          .description('Address for a login with a device code. `null` if not supported'),
        scope: s.text(500),
      }),
    )
    .description('Addresses for a login with OAuth2. `null` if OAuth2 is not supported'),
  hint: s
    .nullable(s.text(500))
    .description('Login instructions of the provider. `null` if there are none'),
});

export const MailAccountTest = s.object('MailAccountTest', {
  ok: s.boolean(),
  steps: s.list(
    s.object('MailTestStep', {
      step: s.oneOf(
        'MailTestStepName',
        ...(['imap_login', 'imap_folders', 'imap_idle'] as const),
        ...(['smtp_login', 'smtp_send', 'arrival'] as const),
      ),
      status: s.oneOf('MailTestStepStatus', 'ok', 'failed', 'skipped'),
      detail: s
        .nullable(s.anyText(1000))
        .description('Result or error of the step. `null` if there is none'),
      durationMs: s.integer(0, Number.MAX_SAFE_INTEGER),
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
    reply: createPageSchema('accounts', MailAccount, 'MailAccountsPage'),
  }),
  create: endpoint.post('/api/email/accounts', {
    summary: 'Add a mail account',
    description: 'Connects an existing mailbox by IMAP and SMTP.',
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
    summary: 'Get a mail account',
    reply: MailAccount,
  }),
  update: endpoint.patch('/api/email/accounts/{id}', {
    summary: 'Update a mail account',
    audit: 'mailaccounts.update',
    example: { name: 'Ada Lovelace', saveSent: true },
    body: MailAccountChanges,
    reply: MailAccount,
  }),
  delete: endpoint.delete('/api/email/accounts/{id}', {
    summary: 'Delete a mail account',
    description: 'The mailbox on the mail server is not changed.',
    query: s.object('MailAccountDeletion', {
      force: s.optional(
        s
          .queryFlag()
          .description(
            'Whether to delete the account even if messages are queued. Queued messages are then marked `failed`. Defaults to `false`',
          ),
      ),
    }),
    audit: 'mailaccounts.delete',
  }),
  test: endpoint.post('/api/email/accounts/{id}/test', {
    summary: 'Test a mail account by sending it an e-mail',
    description:
      'Logs in by IMAP and SMTP, sends an e-mail from the account to itself, and waits up to 30 seconds for its arrival. Without the permission `email`, no e-mail is sent.',
    // Two logins, and 30 s until the message arrives.
    maxReplyMs: 180_000,
    unimpersonated: true,
    reply: MailAccountTest,
  }),
  folders: endpoint.get('/api/email/accounts/{id}/folders', {
    summary: 'List folders of a mail account',
    reply: s.object('MailFolderList', {
      folders: s.list(
        s.object('MailFolder', {
          name: s.text(500),
          use: s
            .nullable(s.text(50))
            .description(
              'Special use of the folder, for example `sent`, `junk` or `trash`. `null` if the folder has none',
            ),
          messages: s
            .nullable(s.integer(0, Number.MAX_SAFE_INTEGER))
            .description('Number of messages in the folder. `null` if not known'),
          unread: s
            .nullable(s.integer(0, Number.MAX_SAFE_INTEGER))
            .description('Number of unread messages in the folder. `null` if not known'),
        }),
        10_000,
      ),
      problem: s
        .nullable(s.anyText(500))
        .description(
          'Reason why only the configured folders are listed. `null` if all folders are listed',
        ),
    }),
  }),
  servers: endpoint.post('/api/email/servers', {
    summary: 'Find mail servers for an address',
    description:
      'Servers that the daemon is not allowed to connect to, such as private addresses, are refused with 400.',
    readsOnly: true,
    example: { address: 'ada@gmail.com' },
    body: s.object('MailServersQuery', {
      address: s.email(),
      imap: s.optional(Server),
      smtp: s.optional(Server),
    }),
    reply: Found,
  }),
});
