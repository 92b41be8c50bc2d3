import Joi from 'joi';
import { contract } from '../../kernel/contract/endpoint.js';
import { pageQuery } from '../../kernel/contract/page.js';
import {
  flag,
  id,
  lenient,
  list,
  nullable,
  object,
  oneOf,
  optional,
  record,
  type Static,
  text,
  time,
  whole,
} from '../../kernel/contract/schema.js';

const bytes = (max: number) =>
  Joi.string<string>()
    .max(max)
    .pattern(/^[\w-]+$/, 'base64url');
/** RFC 7636: the S256 challenge of a verifier. */
const s256 = () => bytes(43).min(43);

export const Passkey = object('Passkey', {
  id: id('passkey'),
  name: text(100),
  relyingParty: text(253).description('The name it belongs to: `localhost`, or the public host'),
  works: flag().description('false: the daemon no longer answers under that name'),
  createdAt: time(),
  lastUsedAt: nullable(time()),
});
export type Passkey = Static<typeof Passkey>;

/**
 * Same as in the contract of auth, since contracts do not import each other. The compiler ensures
 * that they are equal.
 */
const User = object('User', {
  id: id('user'),
  username: text(50),
  email: nullable(text(254)),
  role: oneOf('Role', 'admin', 'user'),
  totpEnabled: flag(),
  recoveryCodesLeft: whole(0, 10).description('How many serve still; 0 without codes'),
  passkeys: whole(0, 1000).description('How many are registered'),
  channels: whole(0, 1000).description('How many verified channels are linked'),
  impersonatedBy: nullable(text(80)),
  createdAt: time(),
});
const deviceToken = () =>
  text(100).description(
    'By it the daemon knows this device again; it replaces no password and no code',
  );
const PasskeyLogin = object('Login', {
  user: User,
  token: text(4096),
  expiresAt: time(),
  deviceToken: optional(deviceToken()),
});
export type PasskeyLogin = Static<typeof PasskeyLogin>;

/**
 * The response of a browser (WebAuthn, `PublicKeyCredential.toJSON`). Ours: unknown fields are
 * dropped, since browsers add some and none of them can give a right.
 */
const Attestation = lenient(
  object('PasskeyAttestation', {
    id: bytes(1400),
    rawId: bytes(1400),
    type: oneOf('PasskeyType', 'public-key'),
    response: object('PasskeyAttestationResponse', {
      clientDataJSON: bytes(4000),
      attestationObject: bytes(40_000),
      transports: optional(list(text(30), 10)),
    }),
  }),
);
export type Attestation = Static<typeof Attestation>;

const Assertion = lenient(
  object('PasskeyAssertion', {
    id: bytes(1400),
    rawId: bytes(1400),
    type: oneOf('PasskeyType', 'public-key'),
    response: object('PasskeyAssertionResponse', {
      clientDataJSON: bytes(4000),
      authenticatorData: bytes(4000),
      signature: bytes(4000),
      userHandle: bytes(100),
    }),
  }),
);
export type Assertion = Static<typeof Assertion>;

const Registration = object('PasskeyRegistration', {
  password: optional(text(256).description('Needed later than ten minutes after login')),
  response: optional(Attestation),
  name: optional(text(100)),
}).with('name', 'response');

const Authentication = object('PasskeyAuthentication', {
  username: optional(text(254).description('Only passkeys of this account will do')),
  challengeId: optional(text(80)),
  response: optional(Assertion),
  device: optional(text(100).description('Names a session of 30 days')),
  deviceToken: optional(text(100).description('From an earlier login of this device')),
}).and('challengeId', 'response');
export type Authentication = Static<typeof Authentication>;

/** The reply: options with their challenge to the first call, a login to the second. */
const Authenticated = object('PasskeyLogin', {
  options: optional(record('PasskeyRequestOptions')),
  challengeId: optional(text(80)),
  user: optional(User),
  token: optional(text(4096)),
  expiresAt: optional(time()),
  deviceToken: optional(deviceToken()),
})
  .and('options', 'challengeId')
  .and('user', 'token', 'expiresAt')
  .xor('options', 'token');

export const passkeys = contract({
  register: {
    method: 'POST',
    path: '/api/auth/passkey/register',
    summary: 'Register a passkey: without `response` the options for the browser, with it the end',
    personal: true,
    audit: 'passkeys.register',
    example: { password: 'a sentence that Grace alone knows' },
    body: Registration,
    reply: object('PasskeyCreation', { options: record('PasskeyCreationOptions') }),
    answers: { 201: object('PasskeyRegistered', { passkey: Passkey }) },
    secret: true,
  },
  authenticate: {
    method: 'POST',
    path: '/api/auth/passkey/authenticate',
    summary:
      'Log in with a passkey: without `response` the options for the browser, with it a login',
    access: 'public',
    audit: 'auth.login',
    example: { username: 'grace' },
    body: Authentication,
    reply: Authenticated,
    secret: true,
  },
  list: {
    method: 'GET',
    path: '/api/auth/passkeys',
    summary: 'List your passkeys',
    personal: true,
    query: pageQuery('PasskeyQuery', {}),
    reply: object('PasskeysPage', {
      passkeys: list(Passkey, 200),
      nextCursor: nullable(text(200)),
    }),
  },
  delete: {
    method: 'DELETE',
    path: '/api/auth/passkeys/{id}',
    summary: 'Delete a passkey; never the last way into an account',
    audit: 'passkeys.delete',
    personal: true,
  },
  grant: {
    method: 'POST',
    path: '/api/auth/passkey/grant',
    summary: 'A code, for one minute and once, that gives another program a session of yours',
    personal: true,
    audit: 'passkeys.grant',
    example: { challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM' },
    body: object('PasskeyGrant', {
      challenge: s256().description('SHA-256 of the verifier, base64url (RFC 7636, S256)'),
    }),
    reply: object('PasskeyGranted', { code: text(100), expiresAt: time() }),
    secret: true,
  },
  redeem: {
    method: 'POST',
    path: '/api/auth/passkey/redeem',
    summary: 'Log in with such a code and the verifier of its challenge',
    access: 'public',
    audit: 'auth.login',
    example: {
      code: 'SplxlOBeZQQYbYS6WxSbIAx7Tq2mZr0WbS1hKp3yTzE',
      verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
    },
    body: object('PasskeyRedemption', {
      code: text(100),
      verifier: Joi.string<string>()
        .min(43)
        .max(128)
        .pattern(/^[\w.~-]+$/, 'RFC 7636'),
      device: optional(
        text(100).description('Names a session, 30 days from the login that gave it'),
      ),
      deviceToken: optional(text(100).description('From an earlier login of this device')),
    }),
    reply: PasskeyLogin,
    secret: true,
  },
});
