import { readPageInWorker } from '../../../src/providers/pages/pageworker.js';

const MIB = 1024 * 1024;
const WISH = { format: 'markdown', isWhole: false, hasAddresses: false, most: 1_000_000 } as const;

/** Reads a page apart; resolves to its content, or to the sentence why it cannot be read. */
export const outcomeOf = (body: string, limitMs?: number): Promise<string | null> =>
  readPageInWorker(
    { body: Buffer.from(body), contentType: 'text/html', url: 'https://example.org/' },
    WISH,
    { userId: 'user_1', signal: new AbortController().signal, limitMs },
  ).then(
    ({ content }) => content,
    (error) => error.message,
  );

/** Each with the outcome of reading it. */
export const HOSTILE_PAGES: [name: string, html: () => string, outcome: RegExp][] = [
  ['100,000 nested elements', () => `${'<div>'.repeat(100_000)}deep`, /levels deep/],
  ['nesting that browsers flatten', () => `${'<b>'.repeat(5_000)}deep`, /deep/],
  [
    'hidden text at the bottom of a deep nesting',
    () => `a${'<i>'.repeat(600)}<p style="display:none">secret</p>`,
    /^(?!.*secret)/s,
  ],
  ['half a million links', () => '<a href=x>'.repeat(500_000), /levels deep|elements/],
  ['a million signs', () => '<'.repeat(MIB), /</],
  ['an open attribute', () => `<p title="${'x'.repeat(MIB)}`, /^has no visible text$/],
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
