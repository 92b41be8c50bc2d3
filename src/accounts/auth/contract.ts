import Joi from 'joi';
import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import * as s from '../../kernel/contract/schema.js';

const username = () =>
  Joi.string<string>()
    .normalize('NFC')
    .min(3)
    .max(50)
    .pattern(/^[\p{L}\p{N}._-]+$/u, 'letters, digits, ".", "_" and "-"')
    .example('ada');

export const User = s.object('User', {
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
export type User = s.Static<typeof User>;

const loginToken = () =>
  s.anyText(4096).description('Empty for the page of the daemon, which gets it as a cookie');

export const Login = s.object('Login', {
  user: User,
  token: loginToken(),
  expiresAt: s.time(),
  deviceToken: s.optional(
    s
      .text(100)
      .description('By it the daemon knows this device again; it replaces no password and no code'),
  ),
});
export type Login = s.Static<typeof Login>;

/** Unknown keys are ignored here and in login, since none of them can give a right. */
export const Registration = s.lenient(
  s
    .object('Registration', {
      username: s.optional(username()),
      email: s.optional(s.email()),
      password: s.newPassword(),
      inviteToken: s.optional(s.text(200)),
      setupCode: s.optional(
        s
          .text(100)
          .description('Of the first account, where the daemon is not for this machine alone'),
      ),
      device: s.optional(s.text(100)),
    })
    .or('username', 'email'),
);
export type Registration = s.Static<typeof Registration>;

export const Credentials = s.lenient(
  s
    .object('Credentials', {
      username: s.optional(s.text(254).description('The name or the e-mail address')),
      email: s.optional(s.text(254)),
      password: s.text(256),
      totpCode: s.optional(s.text(40)),
      device: s.optional(
        s.text(100).description('Names the login session, which then has 30 days'),
      ),
      deviceToken: s.optional(s.text(100).description('From an earlier login of this device')),
    })
    .or('username', 'email'),
);
export type Credentials = s.Static<typeof Credentials>;

export const Ticket = s.object('Ticket', {
  ticket: s.text(100).description('For /ws?token=, once'),
  expiresAt: s.time(),
});
export type Ticket = s.Static<typeof Ticket>;

export const auth = contract({
  register: endpoint.post('/api/auth/register', {
    summary: 'Register a new user; the first becomes the admin',
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
    access: 'public',
    audit: 'auth.login',
    session: 'begins',
    example: { username: 'grace', password: 'a sentence that Grace alone knows', device: 'laptop' },
    body: Credentials,
    reply: Login,
    secret: true,
  }),
  logout: endpoint.post('/api/auth/logout', {
    summary: 'Log out: the token and its sockets end at once',
    session: 'ends',
  }),
  password: endpoint.post('/api/auth/password', {
    summary: 'Change your password; your other logins end, personal access tokens stay',
    personal: true,
    audit: 'auth.password',
    example: { current: 'a sentence that Grace alone knows', next: 'another sentence of hers' },
    body: s.object('PasswordChange', {
      current: s.optional(s.text(256).description('May be left out where the account has none')),
      next: s.newPassword(),
    }),
    reply: s.object('PasswordChanged', {
      sessionsEnded: s.whole(0, 1_000_000),
      tokensLeft: s.whole(0, 1000).description('Personal access tokens that go on working'),
    }),
    secret: true,
  }),
  ticket: endpoint.post('/api/auth/ws-ticket', {
    summary: 'A ticket for one socket within a minute, in place of the token in its address',
    reply: Ticket,
    secret: true,
  }),
  me: endpoint.get('/api/auth/me', { summary: 'Who you are', reply: User }),
});
