import Joi from 'joi';
import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { loginToken, User } from '../../kernel/contract/login.js';
import * as s from '../../kernel/contract/schema.js';

/** `__Host-`: only this host itself sets it, over TLS. Browsers also accept it from localhost. */
export const SSO_COOKIE = '__Host-adjutant-saml';

const slug = () =>
  Joi.string<string>()
    .pattern(/^[a-z0-9-]{2,32}$/)
    .example('acme');
const domainName = () =>
  Joi.string<string>()
    .max(253)
    .lowercase()
    .pattern(/^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]$/, {
      name: 'domain name',
    })
    .example('acme.example');
const role = (label: string) => s.oneOf(label, 'admin', 'member');
const attribute = (holds: string, otherwise: string) =>
  s.nullable(s.text(300)).description(`Name of the SAML attribute of ${holds}. ${otherwise}`);

const SsoAttributes = s.object('SsoAttributes', {
  username: attribute('the username', 'The NameID is used if `null`'),
  email: attribute(
    'the e-mail address',
    'Only addresses in `domains` are used. `null` if accounts get no address',
  ),
  name: attribute('the display name', '`null` if there is none'),
  groups: attribute('the groups', '`null` if there is none'),
});

const groupRoles = () =>
  Joi.object<Record<string, 'admin' | 'member'>>()
    .pattern(Joi.string().max(300), Joi.string().valid('admin', 'member'))
    .max(100)
    .label('SsoGroupRoles')
    .description(
      'Role of the members of a group, by the name of the group. The highest role counts. It cannot be `owner`',
    );

const fields = {
  enabled: s.boolean().description('Whether members can log in with single sign-on'),
  enforced: s
    .boolean()
    .description(
      'Whether accounts of the identity provider can log in with single sign-on only. Owners of the organization can always log in with a password or passkey',
    ),
  entityId: s.text(1000).description('Entity ID of the identity provider (Issuer)'),
  ssoUrl: s.url(2000).description('Login address of the identity provider (HTTP-Redirect)'),
  certificates: s
    .list(Joi.string<string>().max(8000), 5)
    .description('Signing certificates of the identity provider (PEM). Any of them is accepted'),
  attributes: SsoAttributes,
  domains: s
    .list(domainName(), 20)
    .description('Verified domains whose e-mail addresses new accounts may have'),
  defaultRole: role('SsoDefaultRole').description('Role of new members'),
  groupRoles: groupRoles(),
  allowIdpInitiated: s
    .boolean()
    .description(
      'Whether the identity provider may start a login. The user must then confirm the login',
    ),
  tokenDays: s
    .integer(1, 366)
    .description(
      'Number of days after the last login with single sign-on for which personal access tokens of managed accounts are valid',
    ),
};

const ServiceProvider = s.object('SamlServiceProvider', {
  entityId: s.text(1000).description('Entity ID and metadata address of this daemon'),
  acsUrl: s.text(1000).description('Address that receives the responses (HTTP-POST)'),
});

export const SsoSettings = s.object('SsoSettings', {
  ...fields,
  entityId: s
    .nullable(s.text(1000))
    .description('Entity ID of the identity provider (Issuer). `null` until it is set'),
  ssoUrl: s
    .nullable(s.text(2000))
    .description('Login address of the identity provider. `null` until it is set'),
  serviceProvider: s
    .nullable(ServiceProvider)
    .description(
      'Values to enter at the identity provider. `null` if the daemon has no public https address',
    ),
  updatedAt: s.nullable(s.time()).description('Time of the last change. `null` if never changed'),
});
export type SsoSettings = s.Static<typeof SsoSettings>;

const SsoChanges = s.ignoreReadOnly(
  s.partial(
    'SsoChanges',
    s.object('SsoChanges', {
      ...fields,
      metadataXml: s
        .text(500_000)
        .description(
          'Metadata of the identity provider (XML). Sets `entityId`, `ssoUrl` and `certificates`',
        ),
      metadataUrl: s
        .url(2000)
        .description('Address from which to read the metadata once, instead of `metadataXml`'),
      password: s.ownPassword(),
    }),
  ),
  'serviceProvider',
  'updatedAt',
);
export type SsoChanges = s.Static<typeof SsoChanges>;

const SsoResult = s.object('SsoResult', {
  at: s.time(),
  code: s.nullable(s.text(40)).description('Code of the refusal. `null` for a login'),
  reason: s.nullable(s.text(1000)).description('Reason for the refusal. `null` for a login'),
  nameId: s
    .nullable(s.text(254))
    .description('NameID of the user. `null` if the signature was not verified'),
});

const SsoTest = s.object('SsoTest', {
  ready: s.boolean().description('Whether members can log in with single sign-on'),
  problems: s.list(s.text(500), 20).description('Problems of the settings'),
  results: s
    .list(SsoResult, 40)
    .description(
      'The last 20 logins and refusals with a valid signature, and the last 20 other refusals, newest first',
    ),
});
export type SsoTest = s.Static<typeof SsoTest>;

export const OrgDomain = s.object('OrgDomain', {
  domain: s.text(253),
  name: s.text(263).description('Name of the DNS record (TXT) that proves ownership'),
  value: s.text(200).description('Content of the DNS record'),
  verifiedAt: s
    .nullable(s.time())
    .description('Time of the verification. `null` if not verified yet'),
  createdAt: s.time(),
});
export type OrgDomain = s.Static<typeof OrgDomain>;

const orgQuery = () =>
  s.object('SamlMetadataQuery', {
    org: s.optional(
      slug().description(
        'Short name of the organization. Can be omitted if only one organization uses single sign-on',
      ),
    ),
  });

export const sso = contract({
  get: endpoint.get('/api/orgs/{id}/sso', {
    summary: 'Get the single sign-on settings',
    description: 'Requires the role `owner` or `admin` in the organization.',
    reply: SsoSettings,
  }),
  update: endpoint.put('/api/orgs/{id}/sso', {
    summary: 'Update the single sign-on settings',
    description:
      'Requires the role `owner`, an organization that an admin of the installation has approved, and a public https address. Omitted fields keep their values.',
    personal: true,
    audit: 'sso.update',
    example: {
      enabled: true,
      entityId: 'https://idp.acme.example/metadata',
      ssoUrl: 'https://idp.acme.example/login',
      certificates: ['-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----'],
    },
    body: SsoChanges,
    reply: SsoSettings,
  }),
  test: endpoint.post('/api/orgs/{id}/sso/test', {
    summary: 'Check single sign-on and show recent logins',
    description:
      'Requires the role `owner` or `admin` in the organization. Lists problems of the settings, and the reasons for which responses of the identity provider were refused.',
    readsOnly: true,
    reply: SsoTest,
  }),
  link: endpoint.post('/api/orgs/{id}/sso/link', {
    summary: 'Link your account to the identity provider',
    description:
      'Returns an address to open in the same browser within 10 minutes. After the login there, you can log in to your account with single sign-on.',
    personal: true,
    audit: 'sso.link-start',
    example: {},
    body: s.object('SsoLink', {
      password: s.ownPassword(),
    }),
    reply: s.object('SsoLinking', {
      url: s.text(8000).description('Login address of the identity provider, with the request'),
    }),
    secret: true,
  }),
  unlink: endpoint.delete('/api/orgs/{id}/sso/link', {
    summary: 'Unlink your account from the identity provider',
    description:
      'Ends logins to your account with single sign-on of the organization. You stay a member. Accounts that the organization manages cannot be unlinked (409 `account_managed`).',
    personal: true,
    audit: 'sso.unlink',
  }),
  domains: endpoint.get('/api/orgs/{id}/domains', {
    summary: 'List the domains of an organization',
    description: 'Requires the role `owner` or `admin` in the organization.',
    reply: s.object('OrgDomains', { domains: s.list(OrgDomain, 20) }),
  }),
  'domain-add': endpoint.post('/api/orgs/{id}/domains', {
    summary: 'Add a domain to an organization',
    description:
      'Requires the role `owner` or `admin` in the organization. Create the returned DNS record, and then verify the domain.',
    audit: 'sso.domain-add',
    example: { domain: 'acme.example' },
    body: s.object('NewOrgDomain', { domain: domainName() }),
    reply: OrgDomain,
    status: 201,
  }),
  'domain-verify': endpoint.post('/api/orgs/{id}/domains/{domain}/verify', {
    summary: 'Verify a domain by its DNS record',
    description: 'Requires the role `owner` or `admin` in the organization.',
    audit: 'sso.domain-verify',
    reply: OrgDomain,
  }),
  'domain-delete': endpoint.delete('/api/orgs/{id}/domains/{domain}', {
    summary: 'Delete a domain of an organization',
    description: 'Requires the role `owner` or `admin` in the organization.',
    audit: 'sso.domain-delete',
  }),
  metadata: endpoint.get('/api/saml/metadata', {
    summary: 'Get the SAML metadata of this daemon',
    access: 'public',
    query: orgQuery(),
    reply: s.text(20_000),
    produces: 'application/samlmetadata+xml',
  }),
  login: endpoint.get('/api/saml/login', {
    summary: 'Start a login with single sign-on',
    description: 'Redirects a browser to the identity provider of the organization.',
    access: 'public',
    cookie: SSO_COOKIE,
    query: s.object('SamlLoginQuery', {
      org: slug().description('Short name of the organization'),
      returnTo: s.optional(
        Joi.string<string>()
          .max(1000)
          .pattern(/^\/(?![/\\])[\x21-\x7e]*$/, { name: 'path of this daemon' })
          .description('Path to open after the login. Defaults to `/`'),
      ),
    }),
  }),
  consume: endpoint.post('/api/saml/acs', {
    summary: 'Receive a SAML response',
    description:
      'The browser sends the form of the identity provider (`SAMLResponse`, `RelayState`). A valid response redirects to the page that completes the login. Any other response gets 401.',
    access: 'public',
    audit: 'auth.sso',
    cookie: SSO_COOKIE,
    rawBytes: 1024 * 1024,
    example: { SAMLResponse: 'PHNhbWxwOlJlc3BvbnNl…', RelayState: 'a-Rq3mYc9' },
  }),
  begin: endpoint.post('/api/saml/session', {
    summary: 'Complete a login with single sign-on',
    description:
      'Called by the page that opens after the login at the identity provider. The code works once, within one minute, in the same browser.',
    access: 'public',
    audit: 'auth.login',
    session: 'begins',
    cookie: SSO_COOKIE,
    example: { code: 'SplxlOBeZQQYbYS6WxSbIAx7Tq2mZr0WbS1hKp3yTzE' },
    body: s.object('SamlSession', {
      code: s.text(100).description('Code from the address of the page (`#code=…`)'),
      confirmed: s.optional(
        s
          .boolean()
          .description(
            'Whether the user confirms the login. Required if the identity provider started the login. `false` fails with 409 and a message that names the account',
          ),
      ),
    }),
    reply: s.object('SsoLogin', {
      user: User,
      token: loginToken(),
      expiresAt: s.time(),
      returnTo: s.text(1000).description('Path to open'),
    }),
    secret: true,
  }),
});
