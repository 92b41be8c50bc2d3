import Joi from 'joi';
import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../../kernel/contract/page.js';
import * as s from '../../kernel/contract/schema.js';

const token = {
  id: s.id('token'),
  name: s.text(100),
  scopes: s
    .nullable(s.list(s.text(60), 100))
    .description('null: all that you may do but `admin:*` and `approvals:write`'),
  createdAt: s.time(),
  expiresAt: s.time(),
  lastUsedAt: s.nullable(s.time()).description('To the minute'),
};
export const AccessToken = s.object('AccessToken', token);
export type AccessToken = s.Static<typeof AccessToken>;

const NewToken = s.object('NewAccessToken', {
  name: s.text(100).description('What it is for'),
  scopes: s.optional(
    s
      .list(
        Joi.string<string>()
          .pattern(/^[a-z-]{1,40}:(read|write)$/, '<resource>:read or :write')
          .example('hooks:read'),
        100,
      )
      .min(1)
      .description('What it may do; left out: all but `admin:*` and `approvals:write`'),
  ),
  expiresInDays: s.optional(s.whole(1, 366).description('90 unless given')),
  password: s.optional(s.text(256).description('Needed later than ten minutes after login')),
});
export type NewToken = s.Static<typeof NewToken>;

export const tokens = contract({
  list: endpoint.get('/api/auth/tokens', {
    summary: 'List your personal access tokens',
    personal: true,
    query: pageQuery('TokenQuery', {}),
    reply: pageOf('tokens', AccessToken),
  }),
  create: endpoint.post('/api/auth/tokens', {
    summary: 'Make a token for a program of yours; it is shown this once',
    personal: true,
    audit: 'tokens.create',
    example: { name: 'ci', scopes: ['hooks:read', 'agents:read'], expiresInDays: 90 },
    body: NewToken,
    reply: s.object('CreatedAccessToken', { ...token, token: s.text(4096) }),
    status: 201,
    secret: true,
  }),
  delete: endpoint.delete('/api/auth/tokens/{id}', {
    summary: 'Revoke a token: it and its sockets end at once',
    personal: true,
    audit: 'tokens.delete',
  }),
});
