import { gzipSync } from 'node:zlib';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createHttp, type Http } from '../../../src/kernel/http.js';
import { readPageInWorker } from '../../../src/providers/pages/pageworker.js';
import { createPageClient } from '../../../src/providers/pages/request.js';
import { watchLoop } from '../../generated/block.js';
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

/** Ours: the longest turn of the event loop, and the longest time of a page on a slow machine. */
const MAX_TURN_MS = 250;
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
    it(`ends with ${name}, and leaves the event loop alone`, LONG, async () => {
      const body = html();
      const loop = watchLoop();
      const since = performance.now();
      const text = await outcomeOf(body);
      const { turnMs } = loop.stop();
      expect(text?.slice(0, 2000)).to.match(outcome);
      expect(performance.now() - since).to.be.below(20_000);
      expect(turnMs).to.be.below(MAX_TURN_MS);
    });
  }
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

  it('says who it is, and asks a host once in a time', async () => {
    const getPage = createPageClient(http, 200);
    const since = performance.now();
    const url = `${server.origin}/page`;
    await Promise.all([1, 2, 3].map(() => getPage(url, asker())));
    expect(performance.now() - since).to.be.at.least(390);
    const { headers } = server.got.at(-1) ?? {};
    expect(headers?.['user-agent']).to.match(
      /^adjutant\/\d+\.\d+\.\d+ \(reads a page for a person\)$/,
    );
  });
});
