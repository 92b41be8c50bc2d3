import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { Endpoint } from '../../src/kernel/contract/endpoint.js';
import {
  getEndpointScope,
  hasScope,
  listEndpointScopes,
  scopeRefusal,
} from '../../src/kernel/scope.js';

export const lab = Lab.script();
const { describe, it } = lab;

const session = { scopes: null, tokenId: null, impersonator: null };
const token = (...scopes: string[]) => ({ ...session, scopes, tokenId: 'token_1' });
const unlimited = { ...session, tokenId: 'token_1' };
const admin = { id: 'user_1', username: 'root', sessionId: 'login_1' };
const impersonated = { ...session, impersonator: admin };
const call = (method: Endpoint['method'], path: string, more: Partial<Endpoint> = {}) => ({
  method,
  path,
  summary: '',
  ...more,
});
const code = (by: Parameters<typeof scopeRefusal>[0], endpoint: Endpoint) =>
  scopeRefusal(by, endpoint)?.code ?? null;

describe('scope', () => {
  it('is the noun of the path, read for GET and write for the rest', () => {
    expect(getEndpointScope(call('GET', '/api/hooks/{id}/executions'))).to.equal('hooks:read');
    expect(getEndpointScope(call('DELETE', '/api/hooks/{id}'))).to.equal('hooks:write');
    expect(getEndpointScope(call('PATCH', '/api/recurring-tasks/{id}'))).to.equal(
      'recurring-tasks:write',
    );
    expect(getEndpointScope(call('GET', '/api/admin/audit'))).to.equal('admin:read');
  });

  it('is read for what only reads, by whatever method', () => {
    const search = call('POST', '/api/knowledge/search', { readsOnly: true });
    expect(getEndpointScope(search)).to.equal('knowledge:read');
    expect(getEndpointScope(call('POST', '/api/knowledge/index'))).to.equal('knowledge:write');
  });

  it('sets approvals apart from the chat', () => {
    expect(getEndpointScope(call('POST', '/api/chat'))).to.equal('chat:write');
    expect(getEndpointScope(call('POST', '/api/chat/approve'))).to.equal('approvals:write');
    expect(getEndpointScope(call('GET', '/api/chat/approvals'))).to.equal('approvals:read');
  });

  it('is not asked for who one is, nor outside the API', () => {
    expect(getEndpointScope(call('GET', '/api/auth/me'))).to.be.null();
    expect(getEndpointScope(call('GET', '/health/detailed'))).to.be.null();
    expect(getEndpointScope(call('GET', '/metrics'))).to.be.null();
  });

  it('lists those of what asks who calls, without the account', () => {
    const endpoints = [
      call('GET', '/api/hooks'),
      call('POST', '/api/hooks'),
      call('POST', '/api/chat/approve'),
      call('GET', '/api/auth/me'),
      call('GET', '/health/detailed', { access: 'optional' }),
      call('POST', '/api/webhooks/{path}', { access: 'public' }),
    ];
    const known = ['approvals:read', 'approvals:write', 'hooks:read', 'hooks:write'];
    expect(listEndpointScopes(endpoints)).to.equal(known);
  });

  it('is had by name, or by naming none, but approvals and admin acts are never had so', () => {
    expect(hasScope(['hooks:read'], 'hooks:read')).to.be.true();
    expect(hasScope(['hooks:write'], 'hooks:read')).to.be.false();
    expect(hasScope([], 'hooks:read')).to.be.false();
    expect(hasScope(null, 'hooks:write')).to.be.true();
    for (const scope of ['approvals:write', 'admin:read', 'admin:write']) {
      expect([scope, hasScope(null, scope), hasScope([scope], scope)]).to.equal([
        scope,
        false,
        true,
      ]);
    }
  });
});

describe('refusal', () => {
  it('never meets the person itself', () => {
    expect(code(session, call('POST', '/api/auth/tokens', { personal: true }))).to.be.null();
    expect(code(session, call('POST', '/api/chat/approve'))).to.be.null();
    expect(code(session, call('POST', '/api/auth/logout'))).to.be.null();
  });

  it('names the scope that a token lacks', () => {
    expect(scopeRefusal(token('hooks:read'), call('POST', '/api/hooks'))).to.equal({
      code: 'scope_missing',
      message: 'The token lacks the scope hooks:write',
    });
    expect(code(token('hooks:read'), call('GET', '/api/hooks'))).to.be.null();
    expect(code(unlimited, call('POST', '/api/chat/approve'))).to.equal('scope_missing');
    expect(code(unlimited, call('GET', '/api/admin/users'))).to.equal('scope_missing');
    expect(code(token('admin:read'), call('GET', '/api/admin/users'))).to.be.null();
    expect(code(unlimited, call('POST', '/api/hooks'))).to.be.null();
  });

  it('keeps tokens from the account, but for who it is', () => {
    const personal = call('GET', '/api/auth/tokens', { personal: true });
    for (const by of [unlimited, token('hooks:read')]) {
      expect(code(by, personal)).to.equal('personal_only');
      expect(code(by, call('POST', '/api/auth/logout'))).to.equal('personal_only');
      expect(code(by, call('GET', '/api/auth/me'))).to.be.null();
      expect(code(by, call('POST', '/api/auth/ws-ticket'))).to.be.null();
    }
  });

  it('keeps whoever acts as somebody else from what is personal and from approvals', () => {
    const personal = call('POST', '/api/vault/{id}/reveal', { personal: true });
    expect(scopeRefusal(impersonated, personal)).to.equal({
      code: 'personal_only',
      message: 'This action requires your own login and is not available during impersonation',
    });
    expect(code(impersonated, call('POST', '/api/chat/approve'))).to.equal('personal_only');
    expect(code(impersonated, call('POST', '/api/auth/logout'))).to.be.null();
    expect(code(impersonated, call('POST', '/api/hooks'))).to.be.null();
  });
});
