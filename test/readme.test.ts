import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { settings, variableOf } from '../src/config.js';
import { projectRoot } from './harness/sources.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('README', () => {
  it('lists every setting as config.ts has it', () => {
    const readme = readFileSync(join(projectRoot(), 'README.md'), 'utf8');
    const listed = /<!-- settings:.*?-->\n(.*?)<!-- \/settings -->/s.exec(readme)?.[1];
    expect(listed).to.equal(table());
  });
});

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
