import type { MailServer } from './server.js';

/** OAuth2 endpoints for consent (RFC 6749). */
export interface MailConsent {
  authorizationEndpoint: string;
  tokenEndpoint: string;
  /** RFC 8628; null if unsupported. */
  deviceEndpoint: string | null;
  scope: string;
}

export interface MailServers {
  name: string;
  imap: MailServer;
  smtp: MailServer;
  /** `address`: the whole address, `local`: the part before the @. */
  username: 'address' | 'local';
  /** null if only passwords are supported. */
  oauth2: MailConsent | null;
  /** Login hint; null if none. */
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

const presets = { gmail, outlook, fastmail, icloud, yahoo };
export type MailPreset = keyof typeof presets;

/** Whole names, or the first label for several countries. */
const domains: Record<MailPreset, RegExp> = {
  gmail: /^(?:gmail|googlemail)\.com$/,
  outlook: /^(?:outlook|hotmail|live|msn)\.[a-z]{2,3}(?:\.[a-z]{2})?$/,
  fastmail: /^(?:fastmail\.(?:com|fm|net|org|us|co\.uk|de|es|fr|in|jp|to)|sent\.com)$/,
  icloud: /^(?:icloud|me|mac)\.com$/,
  yahoo: /^(?:yahoo\.[a-z]{2,3}(?:\.[a-z]{2})?|ymail\.com|rocketmail\.com)$/,
};

export const presetFor = (domain: string): MailServers | null => {
  for (const [name, known] of Object.entries(presets)) {
    if (isPreset(name) && domains[name].test(domain)) return known;
  }
  return null;
};

const isPreset = (name: string): name is MailPreset => Object.hasOwn(presets, name);
