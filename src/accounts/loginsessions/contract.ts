import { contract } from '../../kernel/contract/endpoint.js';
import { pageQuery } from '../../kernel/contract/page.js';
import {
  flag,
  id,
  list,
  nullable,
  object,
  type Static,
  text,
  time,
} from '../../kernel/contract/schema.js';

/** A session that a login began. Its name distinguishes it from the conversations of agents. */
export const LoginSession = object('LoginSession', {
  id: id('login'),
  device: nullable(text(100)).description(
    'What the login called itself; such a session has 30 days',
  ),
  address: nullable(text(100)).description('Where the login came from'),
  createdAt: time(),
  lastUsedAt: nullable(time()).description('To the minute'),
  expiresAt: time(),
  current: flag().description('The one that asks'),
});
export type LoginSession = Static<typeof LoginSession>;

export const logins = contract({
  list: {
    method: 'GET',
    path: '/api/auth/sessions',
    summary: 'List the logins of yours that have not ended',
    personal: true,
    query: pageQuery('LoginSessionQuery', {}),
    reply: object('LoginSessionsPage', {
      sessions: list(LoginSession, 200),
      nextCursor: nullable(text(200)),
    }),
  },
  delete: {
    method: 'DELETE',
    path: '/api/auth/sessions/{id}',
    summary: 'End a login: its tokens and sockets end at once',
    personal: true,
    audit: 'sessions.delete',
  },
  refresh: {
    method: 'POST',
    path: '/api/auth/refresh',
    summary: 'A fresh token for this login, at most 30 days in all; the old one stays good',
    personal: true,
    reply: object('FreshToken', { token: text(4096), expiresAt: time() }),
    secret: true,
  },
});
