import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  buildGrantTerms,
  grantCovers,
  type JudgedCall,
  listGrantScopes,
} from '../../../src/approvals/grants/rules.js';
import type { GrantScope } from '../../../src/store/tables/permissions.js';
import { judged, MCP, POST } from './judged.js';

export const lab = Lab.script();
const { describe, it } = lab;

const GET = { method: 'GET', url: 'https://example.org/in?a=1' };

describe('grantScopesOf', () => {
  const scopes = (...of: Parameters<typeof judged>) => listGrantScopes(judged(...of));

  it('offers a host for requests to one, and a conversation for every tool', () => {
    const both: GrantScope[] = ['conversation', 'host'];
    expect(scopes('http.request', POST)).to.equal(both);
    expect(scopes('http.request', POST, true)).to.equal(both);
    expect(scopes('http.request', GET)).to.equal(both);
    expect(scopes('http.request', { ...GET, url: 'https://example.org/in' }, true)).to.equal(both);
    expect(scopes('web.read', { url: 'https://example.org/' }, true)).to.equal(both);
    expect(scopes('notes.add', {}, true, { sendsOut: false })).to.equal(['conversation']);
    expect(scopes('github.create', {}, false, MCP)).to.equal(['conversation']);
  });

  it('offers nothing for the shell, e-mail, and a call that names a credential', () => {
    for (const isUntrusted of [true, false]) {
      expect(scopes('shell.run', { argv: ['ls'] }, isUntrusted)).to.equal([]);
      expect(scopes('email.send', { to: ['a@example.org'] }, isUntrusted)).to.equal([]);
      const headers = { authorization: 'Bearer $credential(pat)' };
      expect(scopes('http.request', { ...POST, headers }, isUntrusted)).to.equal([]);
      const body = { $credential: 'pat' };
      expect(scopes('http.request', { ...POST, body }, isUntrusted)).to.equal([]);
    }
  });

  it('offers an untrusted agent nothing for MCP tools, and for what sends text anywhere', () => {
    expect(scopes('github.create', {}, true, MCP)).to.equal([]);
    expect(scopes('github.create', { url: 'https://example.org' }, true, MCP)).to.equal([]);
    expect(scopes('web.search', { query: 'stolen' }, true)).to.equal([]);
    expect(scopes('web.search', { query: 'news' })).to.equal(['conversation']);
  });

  it('offers an untrusted agent no scope that would not cover the same call again', () => {
    expect(scopes('http.request', GET, true)).to.equal([]);
    expect(scopes('web.read', { url: 'https://example.org/?q=1' }, true)).to.equal([]);
    expect(scopes('http.request', { ...POST, url: 'https://example.org/a;b' }, true)).to.equal([]);
    expect(scopes('http.request', { ...POST, headers: { 'x-note': 'a' } }, true)).to.equal([]);
    expect(scopes('http.request', { ...GET, url: POST.url, body: 'x' }, true)).to.equal([]);
  });

  it('offers nothing for an address that cannot be compared', () => {
    for (const url of ['nowhere', 'ftp://example.org/', 'https://ada@example.org/', 7]) {
      expect(scopes('http.request', { method: 'POST', url })).to.equal([]);
    }
    const odd = { method: 'POST', url: 'https://example.org/a;b' };
    expect(scopes('http.request', odd)).to.equal(['conversation', 'host']);
    expect(scopes('http.request', odd, true)).to.equal([]);
  });
});

/** Arguments of a tool that has more than `url` to send to. */
const OTHER_ADDRESSES: Record<string, unknown>[] = [
  { uri: 'https://a.test/' },
  { URL: 'HTTPS:a.test' },
  { endpoint: '//a.test/in' },
  { endpoint: ' \\\\a.test' },
  { endpoint: 'ht\ttps:\n//a.test/' },
  { urls: ['https://a.test/'] },
  { options: { hook: { href: 'wss://a.test' } } },
  { 'https://a.test/': true },
  { text: 'send it to http://a.test/, please' },
  { database: 'postgres://a.test/db' },
  { url: 'https://example.org/', callback: 'https://a.test/' },
];

describe('a call with a long text', () => {
  it('is judged whatever its length', () => {
    const long = 'a'.repeat(100_000);
    for (const url of [`https:${long}`, long, `https://${long}`, `https:${'/'.repeat(100_000)}`]) {
      expect(listGrantScopes(judged('http.request', { ...POST, url }))).to.equal([]);
    }
    expect(listGrantScopes(judged('notes.add', { text: long }, false, MCP))).to.equal([
      'conversation',
    ]);
  });
});

describe('an address in another argument than url', () => {
  const CALLS = [{ title: 'a: b' }, { path: 'a//b', ratio: '16:9' }, { url: POST.url }];

  it('leaves a call no scope', () => {
    for (const args of OTHER_ADDRESSES) {
      expect(
        listGrantScopes(judged('github.create', args, false, MCP)),
        JSON.stringify(args),
      ).to.equal([]);
      expect(listGrantScopes(judged('web.search', args)), JSON.stringify(args)).to.equal([]);
    }
    for (const args of CALLS) {
      const scopes = listGrantScopes(judged('github.create', args, false, MCP));
      expect(scopes, JSON.stringify(args)).to.equal(['conversation']);
    }
  });

  it('is covered by no grant', () => {
    for (const args of OTHER_ADDRESSES) {
      const call = judged('github.create', args, false, MCP);
      const tool_digest = MCP.definitionDigest;
      const terms = buildGrantTerms(call.tool, args);
      const grant = { scope: 'conversation' as const, tool: 'github', action: 'create' };
      expect(
        grantCovers({ ...grant, tool_digest, ...terms }, call),
        JSON.stringify(args),
      ).to.be.false();
    }
  });

  it('is content where the tool sends to its url only, or nowhere', () => {
    const body = 'see https://a.test/';
    expect(listGrantScopes(judged('http.request', { ...POST, body }))).to.have.length(2);
    const at = { sendsOut: false };
    expect(listGrantScopes(judged('files.write', { content: body }, true, at))).to.have.length(1);
  });
});

describe('covers', () => {
  const made = (scope: 'conversation' | 'host', approved: JudgedCall) => ({
    scope,
    tool: approved.tool.skillId,
    action: approved.tool.name,
    tool_digest: approved.tool.definitionDigest ?? null,
    ...buildGrantTerms(approved.tool, approved.arguments),
  });

  it('in a conversation the tool and the origin, with any method', () => {
    const grant = made('conversation', judged('http.request', POST));
    const put = { method: 'PUT', url: 'https://example.org/other?a=1' };
    expect(grantCovers(grant, judged('http.request', put))).to.be.true();
    expect(
      grantCovers(grant, judged('http.request', { ...put, url: 'https://a.test/' })),
    ).to.be.false();
    expect(grantCovers(grant, judged('http.other', put))).to.be.false();
    expect(grantCovers(grant, judged('web.read', put))).to.be.false();
    expect(grantCovers(grant, judged('http.request', { method: 'PUT' }))).to.be.false();
  });

  it('in a conversation, of an untrusted agent, GET and the approved method', () => {
    const grant = made('conversation', judged('http.request', POST, true));
    const call = (method: string, path: string) =>
      grantCovers(
        grant,
        judged('http.request', { method, url: `https://example.org${path}` }, true),
      );
    expect([call('POST', '/other'), call('GET', '/other')]).to.equal([true, true]);
    expect([call('DELETE', '/in'), call('POST', '/other?a=1')]).to.equal([false, false]);
    expect([call('GET', '/?a'), call('GET', '/a;b')]).to.equal([false, false]);
  });

  it('with a grant of a trusted call, of an agent that became untrusted, no more than that', () => {
    const read = made('host', judged('web.read', { url: 'https://example.org/a?b=1' }));
    const reads = (url: string) => grantCovers(read, judged('web.read', { url }, true));
    expect(reads('https://example.org/c')).to.be.true();
    expect(reads('https://example.org/a?b=1')).to.be.false();
    const search = made('conversation', judged('web.search', { query: 'news' }));
    expect(grantCovers(search, judged('web.search', { query: 'more news' }))).to.be.true();
    expect(grantCovers(search, judged('web.search', { query: 'stolen' }, true))).to.be.false();
    const create = made('conversation', judged('github.create', {}, false, MCP));
    expect(grantCovers(create, judged('github.create', {}, true, MCP))).to.be.false();
  });

  it('an MCP tool as long as its definition is the same', () => {
    const grant = made('conversation', judged('github.create', { a: 1 }, false, MCP));
    const call = (more: object) =>
      grantCovers(grant, judged('github.create', { a: 2 }, false, more));
    expect(call(MCP)).to.be.true();
    expect(call({ definitionDigest: 'b'.repeat(64) })).to.be.false();
    expect(call({})).to.be.false();
    const url = 'https://example.org/';
    expect(grantCovers(grant, judged('github.create', { url }, false, MCP))).to.be.false();
  });

  it('no call that names a credential, nor the shell, whatever the grant', () => {
    const post = made('host', judged('http.request', POST));
    const body = '$credential(pat)';
    expect(grantCovers(post, judged('http.request', { ...POST, body }))).to.be.false();
    const shell = made('conversation', judged('shell.run', { argv: ['ls'] }));
    expect(grantCovers(shell, judged('shell.run', { argv: ['ls'] }))).to.be.false();
  });
});
