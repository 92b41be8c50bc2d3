import Joi from 'joi';
import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { pageQuery } from '../../kernel/contract/page.js';
import * as s from '../../kernel/contract/schema.js';

const bytes = (max: number) =>
  Joi.string<string>()
    .max(max)
    .pattern(/^[\w-]+$/, 'base64url');
/** RFC 7636: the S256 challenge of a verifier. */
const s256 = () => bytes(43).min(43);

export const Passkey = s.object('Passkey', {
  id: s.id('passkey'),
  name: s.text(100),
  relyingParty: s.text(253).description('The name it belongs to: `localhost`, or the public host'),
  works: s.flag().description('false: the daemon no longer answers under that name'),
  createdAt: s.time(),
  lastUsedAt: s.nullable(s.time()),
});
export type Passkey = s.Static<typeof Passkey>;

/**
 * Same as in the contract of auth, since contracts do not import each other. The compiler ensures
 * that they are equal.
 */
const User = s.object('User', {
  id: s.id('user'),
  username: s.text(50),
  email: s.nullable(s.text(254)),
  role: s.oneOf('Role', 'admin', 'user'),
  totpEnabled: s.flag(),
  recoveryCodesLeft: s.whole(0, 10).description('How many serve still; 0 without codes'),
  passkeys: s.whole(0, 1000).description('How many are registered'),
  channels: s.whole(0, 1000).description('How many verified channels are linked'),
  impersonatedBy: s.nullable(s.text(80)),
  createdAt: s.time(),
});
const deviceToken = () =>
  s
    .text(100)
    .description('By it the daemon knows this device again; it replaces no password and no code');
const loginToken = () =>
  s.anyText(4096).description('Empty for the page of the daemon, which gets it as a cookie');
const PasskeyLogin = s.object('Login', {
  user: User,
  token: loginToken(),
  expiresAt: s.time(),
  deviceToken: s.optional(deviceToken()),
});
export type PasskeyLogin = s.Static<typeof PasskeyLogin>;

const credential = {
  id: bytes(1400),
  rawId: bytes(1400),
  type: s.oneOf('PasskeyType', 'public-key'),
};

/**
 * The response of a browser (WebAuthn, `PublicKeyCredential.toJSON`). Ours: unknown fields are
 * dropped, since browsers add some and none of them can give a right.
 */
const Attestation = s.lenient(
  s.object('PasskeyAttestation', {
    ...credential,
    response: s.object('PasskeyAttestationResponse', {
      clientDataJSON: bytes(4000),
      attestationObject: bytes(40_000),
      transports: s.optional(s.list(s.text(30), 10)),
    }),
  }),
);
export type Attestation = s.Static<typeof Attestation>;

const Assertion = s.lenient(
  s.object('PasskeyAssertion', {
    ...credential,
    response: s.object('PasskeyAssertionResponse', {
      clientDataJSON: bytes(4000),
      authenticatorData: bytes(4000),
      signature: bytes(4000),
      userHandle: bytes(100),
    }),
  }),
);
export type Assertion = s.Static<typeof Assertion>;

const Registration = s
  .object('PasskeyRegistration', {
    password: s.optional(s.text(256).description('Needed later than ten minutes after login')),
    response: s.optional(Attestation),
    name: s.optional(s.text(100)),
  })
  .with('name', 'response');

const Authentication = s
  .object('PasskeyAuthentication', {
    username: s.optional(s.text(254).description('Only passkeys of this account will do')),
    challengeId: s.optional(s.text(80)),
    response: s.optional(Assertion),
    device: s.optional(s.text(100).description('Names the login session, which then has 30 days')),
    deviceToken: s.optional(s.text(100).description('From an earlier login of this device')),
  })
  .and('challengeId', 'response');
export type Authentication = s.Static<typeof Authentication>;

/** The reply: options with their challenge to the first call, a login to the second. */
const Authenticated = s
  .object('PasskeyLogin', {
    options: s.optional(s.record('PasskeyRequestOptions')),
    challengeId: s.optional(s.text(80)),
    user: s.optional(User),
    token: s.optional(loginToken()),
    expiresAt: s.optional(s.time()),
    deviceToken: s.optional(deviceToken()),
  })
  .and('options', 'challengeId')
  .and('user', 'token', 'expiresAt')
  .xor('options', 'token');

export const passkeys = contract({
  register: endpoint.post('/api/auth/passkey/register', {
    summary: 'Register a passkey: without `response` the options for the browser, with it the end',
    personal: true,
    audit: 'passkeys.register',
    example: { password: 'a sentence that Grace alone knows' },
    body: Registration,
    reply: s.object('PasskeyCreation', { options: s.record('PasskeyCreationOptions') }),
    otherReplies: { 201: s.object('PasskeyRegistered', { passkey: Passkey }) },
    secret: true,
  }),
  authenticate: endpoint.post('/api/auth/passkey/authenticate', {
    summary:
      'Log in with a passkey: without `response` the options for the browser, with it a login',
    access: 'public',
    audit: 'auth.login',
    session: 'begins',
    example: { username: 'grace' },
    body: Authentication,
    reply: Authenticated,
    secret: true,
  }),
  list: endpoint.get('/api/auth/passkeys', {
    summary: 'List your passkeys',
    personal: true,
    query: pageQuery('PasskeyQuery', {}),
    reply: s.object('PasskeysPage', {
      passkeys: s.list(Passkey, 200),
      nextCursor: s.nullable(s.text(200)),
    }),
  }),
  delete: endpoint.delete('/api/auth/passkeys/{id}', {
    summary: 'Delete a passkey; never the last way into an account',
    audit: 'passkeys.delete',
    personal: true,
  }),
  grant: endpoint.post('/api/auth/passkey/grant', {
    summary: 'A code, for one minute and once, that logs another program in as you',
    personal: true,
    audit: 'passkeys.grant',
    example: { challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM' },
    body: s.object('PasskeyGrant', {
      challenge: s256().description('SHA-256 of the verifier, base64url (RFC 7636, S256)'),
    }),
    reply: s.object('PasskeyGranted', { code: s.text(100), expiresAt: s.time() }),
    secret: true,
  }),
  redeem: endpoint.post('/api/auth/passkey/redeem', {
    summary: 'Log in with such a code and the verifier of its challenge',
    access: 'public',
    audit: 'auth.login',
    example: {
      code: 'SplxlOBeZQQYbYS6WxSbIAx7Tq2mZr0WbS1hKp3yTzE',
      verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
    },
    body: s.object('PasskeyRedemption', {
      code: s.text(100),
      verifier: Joi.string<string>()
        .min(43)
        .max(128)
        .pattern(/^[\w.~-]+$/, 'RFC 7636'),
      device: s.optional(
        s
          .text(100)
          .description('Names the login session, which has 30 days from the login that gave it'),
      ),
      deviceToken: s.optional(s.text(100).description('From an earlier login of this device')),
    }),
    reply: PasskeyLogin,
    secret: true,
  }),
});
