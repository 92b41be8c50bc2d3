import Joi from 'joi';
import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { createPageSchema, pageQuery } from '../../kernel/contract/page.js';
import * as s from '../../kernel/contract/schema.js';

const token = {
  id: s.id('token'),
  name: s.text(100),
  scopes: s
    .nullable(s.list(s.text(60), 100))
    .description(
      'Scopes of the token. `null` grants all of your rights except `admin:*` and `approvals:write`',
    ),
  createdAt: s.time(),
  expiresAt: s.time(),
  lastUsedAt: s
    .nullable(s.time())
    .description('Time of the last use, to the minute. `null` if not used yet'),
};
export const AccessToken = s.object('AccessToken', token);
export type AccessToken = s.Static<typeof AccessToken>;

const NewToken = s.object('NewAccessToken', {
  name: s.text(100).description('Name of the token'),
  scopes: s.optional(
    s
      .list(
        Joi.string<string>()
          .pattern(/^[a-z-]{1,40}:(read|write)$/, '<resource>:read or :write')
          .example('hooks:read'),
        100,
      )
      .min(1)
      .description(
        'Scopes of the token. Defaults to all of your rights except `admin:*` and `approvals:write`',
      ),
  ),
  expiresInDays: s.optional(s.integer(1, 366).description('Lifetime in days. Defaults to 90')),
  password: s.ownPassword(),
});
export type NewToken = s.Static<typeof NewToken>;

export const tokens = contract({
  list: endpoint.get('/api/auth/tokens', {
    summary: 'List your personal access tokens',
    personal: true,
    query: pageQuery('TokenQuery', {}),
    reply: createPageSchema('tokens', AccessToken),
  }),
  create: endpoint.post('/api/auth/tokens', {
    summary: 'Create a personal access token',
    description: 'The token is shown only once. You can have at most 100 valid tokens.',
    personal: true,
    audit: 'tokens.create',
    example: { name: 'ci', scopes: ['hooks:read', 'agents:read'], expiresInDays: 90 },
    body: NewToken,
    reply: s.object('CreatedAccessToken', {
      ...token,
      token: s.text(4096).description('The token. Shown only once'),
    }),
    status: 201,
    secret: true,
  }),
  delete: endpoint.delete('/api/auth/tokens/{id}', {
    summary: 'Delete a personal access token',
    description:
      'The token becomes invalid, and all sockets that use the token are closed at once.',
    personal: true,
    audit: 'tokens.delete',
  }),
});
