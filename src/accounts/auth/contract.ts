import Joi from 'joi';
import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { Login, User } from '../../kernel/contract/login.js';
import * as s from '../../kernel/contract/schema.js';

const username = () =>
  Joi.string<string>()
    .normalize('NFC')
    .min(3)
    .max(50)
    // IDs of organizations begin with org_.
    .pattern(
      /^(?![oO][rR][gG]_)[\p{L}\p{N}._-]+$/u,
      'letters, digits, ".", "_" and "-", not beginning with org_',
    )
    .example('ada');

// Unknown keys are ignored here and in login, since none of them can give a right.
export const Registration = s.stripUnknownKeys(
  s
    .object('Registration', {
      username: s.optional(username()),
      email: s.optional(s.email()),
      password: s.newPassword(),
      inviteToken: s.optional(s.text(200)),
      setupCode: s.optional(
        s
          .text(100)
          .description(
            'Setup code for the first account, from the file `setup-code` in the home of the daemon. Required if other machines can reach the daemon, or if registration is `invite` or `closed`',
          ),
      ),
      device: s.optional(
        s
          .text(100)
          .description(
            'Name of the device. A login session with a device name lasts 30 days, without a name `ADJUTANT_TOKEN_HOURS`, 12 hours by default',
          ),
      ),
    })
    .or('username', 'email'),
);
export type Registration = s.Static<typeof Registration>;

export const Credentials = s.stripUnknownKeys(
  s
    .object('Credentials', {
      username: s.optional(s.text(254).description('Username or e-mail address')),
      email: s.optional(s.text(254)),
      password: s.text(256),
      totpCode: s.optional(s.text(40)),
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
    .or('username', 'email'),
);
export type Credentials = s.Static<typeof Credentials>;

export const Ticket = s.object('Ticket', {
  ticket: s.text(100).description('Single-use ticket for `/ws?token=`'),
  expiresAt: s.time(),
});
export type Ticket = s.Static<typeof Ticket>;

export const auth = contract({
  register: endpoint.post('/api/auth/register', {
    summary: 'Register a user',
    description:
      'The first user becomes the admin. Depending on the settings, a setup code or an invite is required.',
    access: 'public',
    audit: 'auth.register',
    session: 'begins',
    example: { username: 'grace', password: 'a sentence that Grace alone knows' },
    body: Registration,
    reply: Login,
    status: 201,
    secret: true,
  }),
  login: endpoint.post('/api/auth/login', {
    summary: 'Log in',
    description:
      'Fails with 401 `totp_required` if the account also requires a code. Send the code as `totpCode`.',
    access: 'public',
    audit: 'auth.login',
    session: 'begins',
    example: { username: 'grace', password: 'a sentence that Grace alone knows', device: 'laptop' },
    body: Credentials,
    reply: Login,
    secret: true,
  }),
  logout: endpoint.post('/api/auth/logout', {
    summary: 'Log out',
    description:
      'Revokes the tokens of your login session and closes all sockets of the session at once.',
    session: 'ends',
  }),
  password: endpoint.post('/api/auth/password', {
    summary: 'Change your password',
    description: 'Ends all other login sessions. Personal access tokens stay valid.',
    personal: true,
    audit: 'auth.password',
    example: { current: 'a sentence that Grace alone knows', next: 'another sentence of hers' },
    body: s.object('PasswordChange', {
      current: s.optional(
        s.text(256).description('Current password. May be omitted if the account has none'),
      ),
      next: s.newPassword(),
    }),
    reply: s.object('PasswordChanged', {
      sessionsEnded: s
        .integer(0, 1_000_000)
        .description('Number of other login sessions that were ended'),
      tokensLeft: s
        .integer(0, 1000)
        .description('Number of personal access tokens that stay valid'),
    }),
    secret: true,
  }),
  ticket: endpoint.post('/api/auth/ws-ticket', {
    summary: 'Create a WebSocket ticket',
    description:
      'The ticket replaces the token in the address of a WebSocket. It can be used once, within one minute.',
    reply: Ticket,
    secret: true,
  }),
  me: endpoint.get('/api/auth/me', { summary: 'Get the current user', reply: User }),
});
