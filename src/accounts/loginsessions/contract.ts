import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { pageQuery } from '../../kernel/contract/page.js';
import * as s from '../../kernel/contract/schema.js';

/** A session that a login began. Its name distinguishes it from the conversations of agents. */
export const LoginSession = s.object('LoginSession', {
  id: s.id('login'),
  device: s
    .nullable(s.text(100))
    .description('The name that the login gave; a named login session has 30 days'),
  address: s.nullable(s.text(100)).description('Where the login came from'),
  createdAt: s.time(),
  lastUsedAt: s.nullable(s.time()).description('To the minute'),
  expiresAt: s.time(),
  current: s.flag().description('The one that asks'),
});
export type LoginSession = s.Static<typeof LoginSession>;

export const logins = contract({
  list: endpoint.get('/api/auth/sessions', {
    summary: 'List the logins of yours that have not ended',
    personal: true,
    query: pageQuery('LoginSessionQuery', {}),
    reply: s.object('LoginSessionsPage', {
      sessions: s.list(LoginSession, 200),
      nextCursor: s.nullable(s.text(200)),
    }),
  }),
  delete: endpoint.delete('/api/auth/sessions/{id}', {
    summary: 'End a login: its tokens and sockets end at once',
    personal: true,
    audit: 'sessions.delete',
  }),
  refresh: endpoint.post('/api/auth/refresh', {
    summary: 'A fresh token for this login, at most 30 days in all; the old one stays good',
    personal: true,
    session: 'begins',
    reply: s.object('FreshToken', {
      token: s
        .anyText(4096)
        .description('Empty for the page of the daemon, which gets it as a cookie'),
      expiresAt: s.time(),
    }),
    secret: true,
  }),
});
