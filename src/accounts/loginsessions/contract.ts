import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { pageQuery } from '../../kernel/contract/page.js';
import * as s from '../../kernel/contract/schema.js';

export const LoginSession = s.object('LoginSession', {
  id: s.id('login'),
  device: s
    .nullable(s.text(100))
    .description(
      'Name of the device. A login session with a device name lasts 30 days. `null` if the login sent no name',
    ),
  address: s.nullable(s.text(100)).description('IP address of the login. `null` if unknown'),
  createdAt: s.time(),
  lastUsedAt: s
    .nullable(s.time())
    .description('Time of the last use, to the minute. `null` if not used yet'),
  expiresAt: s.time(),
  current: s.boolean().description('Whether the request was made in this login session'),
});
export type LoginSession = s.Static<typeof LoginSession>;

export const logins = contract({
  list: endpoint.get('/api/auth/sessions', {
    summary: 'List your active login sessions',
    personal: true,
    query: pageQuery('LoginSessionQuery', {}),
    reply: s.object('LoginSessionsPage', {
      sessions: s.list(LoginSession, 200),
      nextCursor: s
        .nullable(s.text(200))
        .description('Value of `cursor` for the next page. `null` on the last page'),
    }),
  }),
  delete: endpoint.delete('/api/auth/sessions/{id}', {
    summary: 'Delete a login session',
    description: 'Revokes the tokens of the session and closes all sockets of the session at once.',
    personal: true,
    audit: 'sessions.delete',
  }),
  refresh: endpoint.post('/api/auth/refresh', {
    summary: 'Create a new token for your login session',
    description:
      'A login session lasts at most 30 days after the login. The previous token stays valid until it expires.',
    personal: true,
    session: 'begins',
    reply: s.object('FreshToken', {
      token: s
        .anyText(4096)
        .description(
          'Bearer token. Empty for the built-in web page, which receives the token as a cookie',
        ),
      expiresAt: s.time(),
    }),
    secret: true,
  }),
});
