import { gzipSync } from 'node:zlib';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createHttp, type Http } from '../../../src/kernel/http.js';
import { readPageInWorker } from '../../../src/providers/pages/pageworker.js';
import { createPageClient } from '../../../src/providers/pages/request.js';
import { frozenClock } from '../../harness/clock.js';
import { type Listening, listen } from '../../kernel/listen.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const MIB = 1024 * 1024;
const signal = () => new AbortController().signal;
const asker = () => ({ userId: 'ada', signal: signal() });
const WISH = { format: 'markdown', isWhole: false, hasAddresses: false, most: 1_000_000 } as const;

/** Reads a page apart; resolves to its content, or to the sentence why it cannot be read. */
const outcomeOf = (body: string, limitMs?: number): Promise<string | null> =>
  readPageInWorker(
    { body: Buffer.from(body), contentType: 'text/html', url: 'https://example.org/' },
    WISH,
    { userId: 'user_1', signal: signal(), limitMs },
  ).then(
    ({ content }) => content,
    (error) => error.message,
  );
const LONG = { timeout: 120_000 };

describe('readPageApart: hostile pages', () => {
  const pages: [name: string, html: () => string, outcome: RegExp][] = [
    ['100,000 nested elements', () => `${'<div>'.repeat(100_000)}deep`, /levels deep/],
    ['nesting that browsers flatten', () => `${'<b>'.repeat(5_000)}deep`, /deep/],
    [
      'hidden text at the bottom of a deep nesting',
      () => `a${'<i>'.repeat(600)}<p style="display:none">secret</p>`,
      /^(?!.*secret)/s,
    ],
    ['half a million links', () => '<a href=x>'.repeat(500_000), /levels deep|elements/],
    ['a million signs', () => '<'.repeat(MIB), /</],
    ['an open attribute', () => `<p title="${'x'.repeat(MIB)}`, /^$/],
    ['an open comment', () => `a<!--${'x'.repeat(MIB)}`, /^a$/],
    ['an open script', () => `a<script>${'<'.repeat(MIB)}`, /^a$/],
    ['nonsense', () => Buffer.alloc(MIB, '\0\x01<&;"').toString(), /./s],
    [
      '5 MiB of styles',
      () => `<style>${'.a{color:red}'.repeat(400_000)}</style>x`,
      /characters of styles/,
    ],
    [
      'styles that are nested deeply',
      () => `<style>${'.a{'.repeat(50_000)}</style>x`,
      /x|too complex/,
    ],
  ];
  for (const [name, html, outcome] of pages) {
    it(`ends with ${name}`, LONG, async () => {
      const body = html();
      const text = await outcomeOf(body);
      expect(text?.slice(0, 2000)).to.match(outcome);
    });
  }

  it('gives up selectors that take forever', LONG, async () => {
    const selector = `${':has(~ p ~ p ~ p)'.repeat(10)} ~ p`;
    const css = Array.from({ length: 50 }, (_, at) => `p:nth-child(${at}n)${selector}{color:red}`);
    const page = `<style>${css.join('')}</style>${'<p>x</p>'.repeat(20_000)}`;
    expect(await outcomeOf(page, 3_000)).to.match(/too complex/);
  });
});

describe('createPageClient', () => {
  let http: Http;
  let server: Listening;
  before(async () => {
    server = await listen((request, response) => {
      const path = request.url ?? '';
      response.setHeader('content-type', 'text/html');
      if (path === '/bomb') {
        response.setHeader('content-encoding', 'gzip');
        return response.end(gzipSync(Buffer.alloc(200 * MIB)));
      }
      if (path === '/large') return response.end(Buffer.alloc(50 * MIB, 'x'));
      if (path === '/loop') return response.writeHead(302, { location: '/loop' }).end();
      if (path === '/endless') {
        const more = (): void => {
          while (!response.destroyed && response.write('x'.repeat(MIB)));
        };
        response.on('drain', more);
        return more();
      }
      return response.end('<p>here');
    });
    http = createHttp({ allow: [server.entry] });
  });
  after(async () => {
    await http.close();
    await server.close();
  });
  const failure = (url: string) =>
    createPageClient({ http, clock: frozenClock() })(url, asker()).then(
      () => null,
      (error) => `${error.name}: ${error.message}`,
    );

  it('says why a page does not come', LONG, async () => {
    for (const path of ['/bomb', '/large', '/endless']) {
      const said = await failure(`${server.origin}${path}`);
      expect(said, path).to.equal('PageFailed: 127.0.0.1: the reply is too large');
    }
    expect(await failure(`${server.origin}/loop`)).to.match(/redirects more than \d+ times/);
    expect(await failure('http://127.0.0.1:1/')).to.match(/127\.0\.0\.1 is refused/);
    expect(await failure('http://nowhere.invalid/')).to.match(/the name does not resolve/);
  });
});
