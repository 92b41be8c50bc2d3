import Joi from 'joi';
import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { deviceToken, Login, loginToken, User } from '../../kernel/contract/login.js';
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
  relyingParty: s
    .text(253)
    .description('Host name that the passkey is bound to: `localhost` or the public host'),
  works: s
    .boolean()
    .description(
      'Whether the passkey can be used. `false` if the daemon no longer has that host name',
    ),
  createdAt: s.time(),
  lastUsedAt: s.nullable(s.time()).description('Time of the last use. `null` if not used yet'),
});
export type Passkey = s.Static<typeof Passkey>;

const credential = {
  id: bytes(1400),
  rawId: bytes(1400),
  type: s.oneOf('PasskeyType', 'public-key'),
};

// The response of a browser (WebAuthn, `PublicKeyCredential.toJSON`). Unknown fields are dropped,
// since browsers add some and none of them can give a right.
const Attestation = s.stripUnknownKeys(
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

const Assertion = s.stripUnknownKeys(
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
    password: s.ownPassword(),
    response: s.optional(
      Attestation.description(
        'Response of the browser to the options of the first call. Completes the registration',
      ),
    ),
    name: s.optional(
      s
        .text(100)
        .description(
          'Name of the passkey. Allowed only in the second call, together with `response`',
        ),
    ),
  })
  .with('name', 'response');

const Authentication = s
  .object('PasskeyAuthentication', {
    username: s.optional(
      s
        .text(254)
        .description('Username or e-mail address. Only passkeys of this account are accepted'),
    ),
    challengeId: s.optional(
      s.text(80).description('`challengeId` from the first reply, which has the `options`'),
    ),
    response: s.optional(
      Assertion.description(
        'Response of the browser to the options of the first call. Completes the login',
      ),
    ),
    device: s.optional(
      s
        .text(100)
        .description(
          'Name of the device. A login session with a device name lasts 30 days, without a name `ADJUTANT_TOKEN_HOURS`, 12 hours by default',
        ),
    ),
    deviceToken: s.optional(
      s
        .text(100)
        .description(
          'Device token of an earlier login. With a valid token, Adjutant sends no notification about a login from a new device',
        ),
    ),
  })
  .and('challengeId', 'response');
export type Authentication = s.Static<typeof Authentication>;

// The first call returns options and a challenge, the second one a login.
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
    summary: 'Register a passkey',
    description:
      'Call this endpoint twice: without `response` to get the options for the browser, then with `response` to store the passkey (201).',
    personal: true,
    audit: 'passkeys.register',
    example: { password: 'a sentence that Grace alone knows' },
    body: Registration,
    reply: s.object('PasskeyCreation', { options: s.record('PasskeyCreationOptions') }),
    otherReplies: { 201: s.object('PasskeyRegistered', { passkey: Passkey }) },
    secret: true,
  }),
  authenticate: endpoint.post('/api/auth/passkey/authenticate', {
    summary: 'Log in with a passkey',
    description:
      'Call this endpoint twice: without `response` to get the options for the browser, then with `challengeId` and `response` to log in.',
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
      nextCursor: s
        .nullable(s.text(200))
        .description('Value of `cursor` for the next page. `null` on the last page'),
    }),
  }),
  delete: endpoint.delete('/api/auth/passkeys/{id}', {
    summary: 'Delete a passkey',
    description: 'The last way to log in to an account cannot be deleted (409 `last_way_in`).',
    audit: 'passkeys.delete',
    personal: true,
  }),
  grant: endpoint.post('/api/auth/passkey/grant', {
    summary: 'Create a login code for the command line',
    description:
      'The code can be used once, within one minute. A program logs in with the code and the verifier of the challenge, so a user with a passkey can log in outside the browser.',
    personal: true,
    audit: 'passkeys.grant',
    example: { challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM' },
    body: s.object('PasskeyGrant', {
      challenge: s256().description('SHA-256 of the code verifier, base64url (RFC 7636, S256)'),
    }),
    reply: s.object('PasskeyGranted', {
      code: s.text(100).description('Single-use login code, valid for one minute'),
      expiresAt: s.time(),
    }),
    secret: true,
  }),
  redeem: endpoint.post('/api/auth/passkey/redeem', {
    summary: 'Log in with a passkey login code',
    description:
      'The first attempt invalidates the code. The code also becomes invalid when the login session that created the code ends.',
    access: 'public',
    audit: 'auth.login',
    example: {
      code: 'SplxlOBeZQQYbYS6WxSbIAx7Tq2mZr0WbS1hKp3yTzE',
      verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
    },
    body: s.object('PasskeyRedemption', {
      code: s
        .text(100)
        .description(
          'Login code that the program received from the browser after the login with a passkey',
        ),
      verifier: Joi.string<string>()
        .min(43)
        .max(128)
        .pattern(/^[\w.~-]+$/, 'RFC 7636'),
      device: s.optional(
        s
          .text(100)
          .description(
            'Name of the device. With a name, the new login session ends 30 days after the passkey login in the browser, without a name after `ADJUTANT_TOKEN_HOURS`',
          ),
      ),
      deviceToken: s.optional(
        s
          .text(100)
          .description(
            'Device token of an earlier login. With a valid token, Adjutant sends no notification about a login from a new device',
          ),
      ),
    }),
    reply: Login,
    secret: true,
  }),
});
