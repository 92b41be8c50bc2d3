import Joi from 'joi';
import { contract } from '../../kernel/contract/endpoint.js';
import {
  email,
  flag,
  id,
  lenient,
  newPassword,
  nullable,
  object,
  oneOf,
  optional,
  type Static,
  text,
  time,
  whole,
} from '../../kernel/contract/schema.js';

const username = () =>
  Joi.string<string>()
    .normalize('NFC')
    .min(3)
    .max(50)
    .pattern(/^[\p{L}\p{N}._-]+$/u, 'letters, digits, ".", "_" and "-"')
    .example('ada');

export const User = object('User', {
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
export type User = Static<typeof User>;

export const Login = object('Login', {
  user: User,
  token: text(4096),
  expiresAt: time(),
  deviceToken: optional(
    text(100).description(
      'By it the daemon knows this device again; it replaces no password and no code',
    ),
  ),
});
export type Login = Static<typeof Login>;

/** Unknown keys are ignored here and in login, since none of them can give a right. */
export const Registration = lenient(
  object('Registration', {
    username: optional(username()),
    email: optional(email()),
    password: newPassword(),
    inviteToken: optional(text(200)),
    setupCode: optional(
      text(100).description('Of the first account, where the daemon is not for this machine alone'),
    ),
    device: optional(text(100)),
  }).or('username', 'email'),
);
export type Registration = Static<typeof Registration>;

export const Credentials = lenient(
  object('Credentials', {
    username: optional(text(254).description('The name or the e-mail address')),
    email: optional(text(254)),
    password: text(256),
    totpCode: optional(text(40)),
    device: optional(text(100).description('Names a session of 30 days')),
    deviceToken: optional(text(100).description('From an earlier login of this device')),
  }).or('username', 'email'),
);
export type Credentials = Static<typeof Credentials>;

export const Ticket = object('Ticket', {
  ticket: text(100).description('For /ws?token=, once'),
  expiresAt: time(),
});
export type Ticket = Static<typeof Ticket>;

export const auth = contract({
  register: {
    method: 'POST',
    path: '/api/auth/register',
    summary: 'Register a new user; the first becomes the admin',
    access: 'public',
    audit: 'auth.register',
    example: { username: 'grace', password: 'a sentence that Grace alone knows' },
    body: Registration,
    reply: Login,
    status: 201,
    secret: true,
  },
  login: {
    method: 'POST',
    path: '/api/auth/login',
    summary: 'Log in',
    access: 'public',
    audit: 'auth.login',
    example: { username: 'grace', password: 'a sentence that Grace alone knows', device: 'laptop' },
    body: Credentials,
    reply: Login,
    secret: true,
  },
  logout: {
    method: 'POST',
    path: '/api/auth/logout',
    summary: 'Log out: the token and its sockets end at once',
  },
  password: {
    method: 'POST',
    path: '/api/auth/password',
    summary: 'Change your password; your other logins end, personal access tokens stay',
    personal: true,
    audit: 'auth.password',
    example: { current: 'a sentence that Grace alone knows', next: 'another sentence of hers' },
    body: object('PasswordChange', {
      current: optional(text(256).description('May be left out where the account has none')),
      next: newPassword(),
    }),
    reply: object('PasswordChanged', {
      sessionsEnded: whole(0, 1_000_000),
      tokensLeft: whole(0, 1000).description('Personal access tokens that go on working'),
    }),
    secret: true,
  },
  ticket: {
    method: 'POST',
    path: '/api/auth/ws-ticket',
    summary: 'A ticket for one socket within a minute, in place of the token in its address',
    reply: Ticket,
    secret: true,
  },
  me: { method: 'GET', path: '/api/auth/me', summary: 'Who you are', reply: User },
});
