import Joi from 'joi';
import { contract } from '../../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../../kernel/contract/page.js';
import {
  id,
  list,
  nullable,
  object,
  optional,
  type Static,
  text,
  time,
  whole,
} from '../../kernel/contract/schema.js';

const token = {
  id: id('token'),
  name: text(100),
  scopes: nullable(list(text(60), 100)).description(
    'null: all that you may do but `admin:*` and `approvals:write`',
  ),
  createdAt: time(),
  expiresAt: time(),
  lastUsedAt: nullable(time()).description('To the minute'),
};
export const AccessToken = object('AccessToken', token);
export type AccessToken = Static<typeof AccessToken>;

const NewToken = object('NewAccessToken', {
  name: text(100).description('What it is for'),
  scopes: optional(
    list(
      Joi.string<string>()
        .pattern(/^[a-z-]{1,40}:(read|write)$/, '<resource>:read or :write')
        .example('hooks:read'),
      100,
    )
      .min(1)
      .description('What it may do; left out: all but `admin:*` and `approvals:write`'),
  ),
  expiresInDays: optional(whole(1, 366).description('90 unless given')),
  password: optional(text(256).description('Needed later than ten minutes after login')),
});
export type NewToken = Static<typeof NewToken>;

export const tokens = contract({
  list: {
    method: 'GET',
    path: '/api/auth/tokens',
    summary: 'List your personal access tokens',
    personal: true,
    query: pageQuery('TokenQuery', {}),
    reply: pageOf('tokens', AccessToken),
  },
  create: {
    method: 'POST',
    path: '/api/auth/tokens',
    summary: 'Make a token for a program of yours; it is shown this once',
    personal: true,
    audit: 'tokens.create',
    example: { name: 'ci', scopes: ['hooks:read', 'agents:read'], expiresInDays: 90 },
    body: NewToken,
    reply: object('CreatedAccessToken', { ...token, token: text(4096) }),
    status: 201,
    secret: true,
  },
  delete: {
    method: 'DELETE',
    path: '/api/auth/tokens/{id}',
    summary: 'Revoke a token: it and its sockets end at once',
    personal: true,
    audit: 'tokens.delete',
  },
});
