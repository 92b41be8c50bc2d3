import * as s from './schema.js';

export const User = s.object('User', {
  id: s.id('user'),
  username: s.text(50),
  email: s.nullable(s.text(254)).description('E-mail address of the user. `null` if there is none'),
  role: s.oneOf('Role', 'admin', 'user'),
  totpEnabled: s
    .boolean()
    .description('Whether logins with a password require a code of an authenticator app'),
  recoveryCodesLeft: s.integer(0, 10).description('Number of unused recovery codes'),
  passkeys: s.integer(0, 1000).description('Number of registered passkeys'),
  channels: s.integer(0, 1000).description('Number of verified channels'),
  impersonatedBy: s
    .nullable(s.text(80))
    .description('Username of the impersonating admin. `null` outside of impersonation'),
  createdAt: s.time(),
});
export type User = s.Static<typeof User>;

export const loginToken = () =>
  s
    .anyText(4096)
    .description(
      'Bearer token. Empty for the built-in web page, which receives the token as a cookie',
    );

export const deviceToken = () =>
  s
    .text(100)
    .description(
      'Token that identifies this device at later logins. Does not replace the password or a code',
    );

export const Login = s.object('Login', {
  user: User,
  token: loginToken(),
  expiresAt: s.time(),
  deviceToken: s.optional(deviceToken()),
});
export type Login = s.Static<typeof Login>;
