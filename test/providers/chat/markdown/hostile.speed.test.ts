import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { PLATFORMS } from './platforms.js';

export const lab = Lab.script();
const { describe, it } = lab;

/** The beginnings of what Markdown reads, to be repeated. */
const REPEATED = [
  ...[
    '*',
    '_',
    '`',
    '[',
    '>',
    '> ',
    '- ',
    '1. ',
    '@a ',
    '/a ',
    '*a* ',
    '`a``b```c ',
    '[a](',
    '![a](',
  ],
  ...[
    'http://a.b ',
    'http://',
    '|a',
    '\\',
    '&#',
    '<a@',
    '~~a~~ ',
    '\n',
    'a.',
    'a-',
    '```\n',
    '# a\n',
  ],
];

describe('what an adversary writes', () => {
  it('is read in a time that grows with its length', () => {
    const most = 20_000;
    const times = (text: string): string => text.repeat(most / text.length);
    const since = process.cpuUsage();
    for (const text of REPEATED) {
      for (const [platform] of PLATFORMS) {
        platform.render({ title: null, text: times(text), isMarkdown: true });
      }
    }
    for (const text of [
      `**a${' '.repeat(most)}b**`,
      `http://a.b/${'('.repeat(most)}`,
      Array.from({ length: 440 }, (_, depth) => `${' '.repeat(depth)}- x`).join('\n'),
      `|${'a|'.repeat(3_000)}\n|${'-|'.repeat(3_000)}\n${'|x|\n'.repeat(1_000)}`,
      `|a|b|\n|-|-|\n|${'x'.repeat(50_000)}|y|\n${'|c|d|\n'.repeat(5_000)}`,
    ]) {
      for (const [platform] of PLATFORMS) platform.render({ title: null, text, isMarkdown: true });
    }
    expect(process.cpuUsage(since).user / 1e6).to.be.below(40);
  });
});
