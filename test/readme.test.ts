import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { settings, variableOf } from '../src/config.js';
import { projectRoot } from './harness/sources.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('README', () => {
  it('links to what the package holds, and to headings that are there', () => {
    const readme = readFileSync(join(projectRoot(), 'README.md'), 'utf8');
    const { files } = JSON.parse(readFileSync(join(projectRoot(), 'package.json'), 'utf8'));
    const links = [...readme.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
    const paths = links.filter((link) => !/^(https?:|#)/.test(link));
    expect(paths).to.include(['src/http/socket/PROTOCOL.md', 'docs/screens/overview.svg']);
    const isPacked = (path: string): boolean =>
      files.some((file: string) => path === file || path.startsWith(`${file}/`));
    expect(paths.filter((path) => !existsSync(join(projectRoot(), path)))).to.equal([]);
    expect(paths.filter((path) => !isPacked(path))).to.equal([]);
    const headings = [...readme.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => anchorOf(title));
    const anchors = links.filter((link) => link.startsWith('#')).map((link) => link.slice(1));
    expect(anchors.filter((anchor) => !headings.includes(anchor))).to.equal([]);
  });

  it('lists every setting as config.ts has it', () => {
    const readme = readFileSync(join(projectRoot(), 'README.md'), 'utf8');
    const listed = /<!-- settings:.*?-->\n(.*?)<!-- \/settings -->/s.exec(readme)?.[1];
    expect(listed).to.equal(table());
  });
});

/** As forges make it of a heading. */
const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');

const table = (): string => {
  const rows = Object.entries(settings).map(([key, setting]) => {
    const secret = 'isSecret' in setting && setting.isSecret ? ' *secret*' : '';
    return `| \`${variableOf(key)}\` | ${shown(setting.initial)} | ${setting.doc}${secret} |`;
  });
  return ['| Setting | Unless set | What it is |', '|---|---|---|', ...rows, ''].join('\n');
};

const shown = (initial: unknown): string => {
  if (initial === null || (Array.isArray(initial) && initial.length === 0)) return 'none';
  return `\`${String(initial)}\``;
};
