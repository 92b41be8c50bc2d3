import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  buildGrantTerms,
  grantCovers,
  type JudgedCall,
} from '../../../src/approvals/grants/rules.js';

export const lab = Lab.script();
const { describe, it } = lab;

const REQUEST = { skillId: 'http', name: 'request', sendsOut: true };
const APPROVED = 'https://api.example.org/repos/x/issues';

/** A grant for the host of an approved POST. */
const grant = {
  scope: 'host' as const,
  ...{ tool: 'http', action: 'request', tool_digest: null },
  ...buildGrantTerms(REQUEST, { method: 'POST', url: APPROVED }),
};

const isCovered = (method: string, url: unknown, isUntrusted = true): boolean => {
  const call: JudgedCall = { tool: REQUEST, arguments: { method, url }, isUntrusted };
  return grantCovers(grant, call);
};

const onHost = (path: string): string => `https://api.example.org${path}`;

/** Spellings of an address at or below the approved one. */
const SAME = [
  APPROVED,
  `${APPROVED}/`,
  `${APPROVED}/5/comments`,
  `${APPROVED}/f%C3%BCr`,
  'HTTPS://API.Example.ORG/repos/x/issues',
  'https://api.example.org:443/repos/x/issues',
  'https://api.example.org./repos/x/issues',
  'https:\\\\api.example.org\\repos\\x\\issues',
  'https:/api.example.org/repos/x/issues',
  ' https://api.example.org/repos/x/issues\n',
  'https://api.exa\tmple.org/repos/x/issues',
  'https://ａｐｉ.example.org/repos/x/issues',
  'https://api。example。org/repos/x/issues',
  'https://%61pi.example.org/repos/x/issues',
  onHost('/repos/x/%69ssues'),
  onHost('/repos/./x/issues'),
  onHost('/other/../repos/x/issues'),
  onHost('/other/%2E%2e/repos/x/issues'),
  `${APPROVED}#part`,
  `${APPROVED}#?a=1`,
];

/** Addresses of another origin, whatever they look like. */
const ELSEWHERE: unknown[] = [
  'http://api.example.org/repos/x/issues',
  'http://api.example.org:443/repos/x/issues',
  'https://api.example.org:80/repos/x/issues',
  'https://api.example.org:8443/repos/x/issues',
  'https://example.org/repos/x/issues',
  'https://api.example.org.evil.test/repos/x/issues',
  'https://api-example.org/repos/x/issues',
  'https://xapi.example.org/repos/x/issues',
  'https://api.example.org../repos/x/issues',
  'https://api.example.org@evil.test/repos/x/issues',
  'https://api.example.org:443@evil.test/repos/x/issues',
  'https://api.example.org%40evil.test/repos/x/issues',
  'https://evil.test\\@api.example.org/repos/x/issues',
  'https://evil.test/@api.example.org/repos/x/issues',
  'https://evil.test#@api.example.org/repos/x/issues',
  'https://evil.test?@api.example.org/repos/x/issues',
  'https://evil.test/https://api.example.org/repos/x/issues',
  'https://user@api.example.org/repos/x/issues',
  'https://user:word@api.example.org/repos/x/issues',
  'https://@api.example.org/repos/x/issues',
  'https://:@api.example.org/repos/x/issues',
  'https:\\\\@api.example.org/repos/x/issues',
  'https://аpi.example.org/repos/x/issues',
  'https://xn--pi-7kc.example.org/repos/x/issues',
  'https://api.example.org\u00ad.evil.test/repos/x/issues',
  'https://[::1]/repos/x/issues',
  'https://127.0.0.1/repos/x/issues',
  'ftp://api.example.org/repos/x/issues',
  'javascript://api.example.org/repos/x/issues',
  'blob:https://api.example.org/repos/x/issues',
  '//api.example.org/repos/x/issues',
  'api.example.org/repos/x/issues',
  'https://',
  '',
  null,
  7,
  [APPROVED],
];

/** Paths on the host that are not below the approved one, or that a server may read so. */
const OUTSIDE = [
  '',
  '/',
  '/repos/x',
  '/repos/x/',
  '/Repos/x/issues',
  '/repos/x/issuesX',
  '/repos/x/issues-2',
  '/repos/x/issue',
  '/repos/y/issues',
  '/repos/x/issues/..',
  '/repos/x/issues/../../admin',
  '/repos/x/issues/%2e%2e/%2e%2e/admin',
  '/repos/x/issues/.%2E/admin',
];

/** Paths that a server may read as others, on every method. */
const ODD = [
  '/repos/x/issues/..%2f..%2fadmin',
  '/repos/x/issues/%2e%2e%2fadmin',
  '/repos/x/issues/..%5c..%5cadmin',
  '/repos/x/issues/%252e%252e/admin',
  '/repos/x/issues/%252e%252e%252fadmin',
  '/repos/x/issues/%25252e%25252e%25252fadmin',
  '/repos/x/issues/..;/admin',
  '/repos/x/issues/..%3b/admin',
  '/repos/x/issues/..;a=b/admin',
  '/repos/x/issues;stolen=1',
  '/repos/x/issues%3bstolen=1',
  '/repos/x/issues%3Fstolen=1',
  '/repos/x/issues%253Fstolen=1',
  '/repos/x/issues%23stolen',
  '//repos/x/issues',
  '/repos//x/issues',
  '/repos/x/issues//admin',
  '/repos/x/issues%00',
  '/repos/x/issues%0d%0aHost:%20evil.test',
  '/repos/x/issues/%c0%ae%c0%ae/admin',
  '/repos/x/issues/%u002e%u002e/admin',
  '/repos/x/issues/%',
  '/repos/x/issues/．．/admin',
  '/repos/x/issues/‥/admin',
  '/repos/x/issues／..／admin',
  '/repos/x/issues/...',
  '/repos/x/issues/..%20',
  '/repos/x/issues/%20',
  '/repos/x/issues/\u202eadmin',
];

const QUERIES = ['?', '?a=1', '?#part', '/?', '?a=1#part', '/5?', '?%61', '??'];

describe('a grant for a host, of an untrusted agent', () => {
  it('covers the approved address in every spelling that leads there, and what is below it', () => {
    for (const url of SAME) {
      expect(isCovered('POST', url), url).to.be.true();
      expect(isCovered('GET', url), url).to.be.true();
    }
  });

  it('covers no other origin', () => {
    for (const url of ELSEWHERE) {
      for (const method of ['GET', 'POST']) {
        expect(isCovered(method, url), String(url)).to.be.false();
        expect(isCovered(method, url, false), String(url)).to.be.false();
      }
    }
  });

  it('covers no other path but for GET', () => {
    for (const path of OUTSIDE) {
      expect(isCovered('POST', onHost(path)), path).to.be.false();
      expect(isCovered('GET', onHost(path)), path).to.be.true();
    }
  });

  it('covers no path that a server may read as another one', () => {
    for (const path of ODD) {
      expect(isCovered('POST', onHost(path)), path).to.be.false();
      expect(isCovered('GET', onHost(path)), path).to.be.false();
    }
  });

  it('covers nothing with a query string, not even an empty one', () => {
    for (const query of QUERIES) {
      expect(isCovered('POST', APPROVED + query), query).to.be.false();
      expect(isCovered('GET', APPROVED + query), query).to.be.false();
    }
  });

  it('covers no other method, under any spelling', () => {
    for (const method of ['PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'get', 'post', 'GET ', '']) {
      expect(isCovered(method, APPROVED), method).to.be.false();
    }
  });

  it('covers no header that could carry data, and no body of a GET', () => {
    const covered = (more: object, method = 'GET'): boolean =>
      grantCovers(grant, {
        tool: REQUEST,
        arguments: { method, url: APPROVED, ...more },
        isUntrusted: true,
      });
    const harmless = { Accept: 'application/json', 'Content-Type': 'text/plain' };
    expect(covered({ headers: harmless, body: 'x' }, 'POST')).to.be.true();
    expect(covered({ headers: harmless, offset: 7 })).to.be.true();
    const odd: object[] = [
      { body: 'x' },
      { body: '' },
      { headers: { cookie: 'stolen' } },
      { headers: { 'x-stolen': 'a' } },
      { headers: { 'user-agent': 'stolen' } },
      { headers: { authorization: 'Bearer a' } },
      { headers: { referer: 'stolen' } },
      { headers: { 'x-http-method-override': 'DELETE' } },
      { headers: { accept: 'a'.repeat(201) } },
      { headers: { accept: ['a'] } },
      { headers: 'x-stolen: a' },
      { headers: { 'x-token': '$credential(github-pat)' } },
      { url: { $credential: 'github-pat' } },
    ];
    for (const more of odd) expect(covered(more), JSON.stringify(more)).to.be.false();
    const posted = { headers: { 'x-http-method-override': 'DELETE' } };
    expect(covered(posted, 'POST')).to.be.false();
  });

  it('covers a trusted agent on the whole host with the approved method', () => {
    expect(isCovered('POST', onHost('/other?a=1'), false)).to.be.true();
    expect(isCovered('GET', onHost('/other'), false)).to.be.false();
    expect(isCovered('DELETE', APPROVED, false)).to.be.false();
  });

  it('made for the root of a host, covers every path there, and made for an odd path, none', () => {
    const with_ = (url: string) => ({
      ...grant,
      ...buildGrantTerms(REQUEST, { method: 'POST', url }),
    });
    const post = (url: string): JudgedCall => ({
      ...{ tool: REQUEST, isUntrusted: true, arguments: { method: 'POST', url } },
    });
    expect(grantCovers(with_(onHost('/')), post(onHost('/any/path')))).to.be.true();
    expect(grantCovers(with_(onHost('/a;b/c')), post(onHost('/a;b/c')))).to.be.false();
    expect(grantCovers(with_(onHost('/a;b/c')), post(onHost('/a')))).to.be.false();
  });
});
