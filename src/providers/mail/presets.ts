import type { MailServer } from './server.js';

/** The addresses of a service where a person consents to the use of a mailbox (RFC 6749). */
export interface MailConsent {
  authorizationEndpoint: string;
  tokenEndpoint: string;
  /** The address for codes that are typed on another device (RFC 8628); null if there is none. */
  deviceEndpoint: string | null;
  scope: string;
}

/** The servers of a mail provider. */
export interface MailServers {
  /** The name of the provider. */
  name: string;
  imap: MailServer;
  smtp: MailServer;
  /** `address`: the login is by the whole address, `local`: by what is before the @. */
  username: 'address' | 'local';
  /** Null if a login is by password alone. */
  oauth2: MailConsent | null;
  /** A sentence for the person on how to log in there; null if there is nothing to say. */
  hint: string | null;
}

const on = (host: string, port: number, tls: MailServer['tls'] = 'implicit'): MailServer => ({
  host,
  port,
  tls,
});

const APP_PASSWORD = 'Requires an app password, which you create in your account settings';

const gmail: MailServers = {
  name: 'Gmail',
  imap: on('imap.gmail.com', 993),
  smtp: on('smtp.gmail.com', 465),
  username: 'address',
  oauth2: {
    authorizationEndpoint: 'https://accounts.google.com/o/oauth2/v2/auth',
    tokenEndpoint: 'https://oauth2.googleapis.com/token',
    deviceEndpoint: null,
    scope: 'https://mail.google.com/',
  },
  hint: `${APP_PASSWORD}, or OAuth2 with your own client`,
};

const MICROSOFT = 'https://login.microsoftonline.com/common/oauth2/v2.0';
const outlook: MailServers = {
  name: 'Outlook',
  imap: on('outlook.office365.com', 993),
  smtp: on('smtp.office365.com', 587, 'starttls'),
  username: 'address',
  oauth2: {
    authorizationEndpoint: `${MICROSOFT}/authorize`,
    tokenEndpoint: `${MICROSOFT}/token`,
    deviceEndpoint: `${MICROSOFT}/devicecode`,
    scope:
      'offline_access https://outlook.office.com/IMAP.AccessAsUser.All https://outlook.office.com/SMTP.Send',
  },
  hint: 'Microsoft does not accept passwords. Use OAuth2 with your own client',
};

const fastmail: MailServers = {
  name: 'Fastmail',
  imap: on('imap.fastmail.com', 993),
  smtp: on('smtp.fastmail.com', 465),
  username: 'address',
  oauth2: null,
  hint: APP_PASSWORD,
};

const icloud: MailServers = {
  name: 'iCloud',
  imap: on('imap.mail.me.com', 993),
  smtp: on('smtp.mail.me.com', 587, 'starttls'),
  username: 'address',
  oauth2: null,
  hint: APP_PASSWORD,
};

const yahoo: MailServers = {
  name: 'Yahoo',
  imap: on('imap.mail.yahoo.com', 993),
  smtp: on('smtp.mail.yahoo.com', 465),
  username: 'address',
  oauth2: null,
  hint: APP_PASSWORD,
};

/** The providers that are known without asking anybody, by the name that a person gives. */
const presets = { gmail, outlook, fastmail, icloud, yahoo };
export type MailPreset = keyof typeof presets;

/** The domains of each, as whole names or as the first label of several countries. */
const domains: Record<MailPreset, RegExp> = {
  gmail: /^(?:gmail|googlemail)\.com$/,
  outlook: /^(?:outlook|hotmail|live|msn)\.[a-z]{2,3}(?:\.[a-z]{2})?$/,
  fastmail: /^(?:fastmail\.(?:com|fm|net|org|us|co\.uk|de|es|fr|in|jp|to)|sent\.com)$/,
  icloud: /^(?:icloud|me|mac)\.com$/,
  yahoo: /^(?:yahoo\.[a-z]{2,3}(?:\.[a-z]{2})?|ymail\.com|rocketmail\.com)$/,
};

/** Returns the servers for addresses of that domain; null if it is none of these providers. */
export const presetFor = (domain: string): MailServers | null => {
  for (const [name, known] of Object.entries(presets)) {
    if (isPreset(name) && domains[name].test(domain)) return known;
  }
  return null;
};

const isPreset = (name: string): name is MailPreset => Object.hasOwn(presets, name);
