import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { settings, toVariableName } from '../../src/config.js';
import { readDocument } from '../harness/documents.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('docs/settings.md', () => {
  it('lists every setting as config.ts has it', () => {
    const { text } = readDocument('docs/settings.md');
    const listed = /<!-- settings:.*?-->\n(.*?)<!-- \/settings -->/s.exec(text)?.[1];
    expect(listed).to.equal(table());
  });
});

const table = (): string => {
  const rows = Object.entries(settings).map(([key, setting]) => {
    const secret = 'isSecret' in setting && setting.isSecret ? ' *secret*' : '';
    return `| \`${toVariableName(key)}\` | ${shown(setting.initial)} | ${setting.doc}${secret} |`;
  });
  return ['| Setting | Default | Description |', '|---|---|---|', ...rows, ''].join('\n');
};

const shown = (initial: unknown): string => {
  if (initial === null || (Array.isArray(initial) && initial.length === 0)) return 'none';
  return `\`${String(initial)}\``;
};
