import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { independent, modules } from '../harness/order.js';
import { projectRoot } from '../harness/sources.js';

export const lab = Lab.script();
const { describe, it } = lab;

const read = (path: string): string => readFileSync(join(projectRoot(), path), 'utf8');

describe('docs/architecture.md', () => {
  it('lists the modules in their order', () => {
    const section = /## Modules\n(.*?)\n## /s.exec(read('docs/architecture.md'))?.[1] ?? '';
    const listed = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
    expect(listed).to.equal(modules.filter((name) => !independent.includes(name)));
  });

  it('names for each step of a delivery a function that its file exports', () => {
    const rows = read('docs/architecture.md').matchAll(/^\| \d+ \| .* \| `(\S+)` \| `(\w+)` \|$/gm);
    const steps = [...rows].map(([, file = '', name = '']) => ({ file, name }));
    expect(steps.length).to.equal(19);
    const missing = steps.filter(
      ({ file, name }) => !new RegExp(`^export const ${name} = `, 'm').test(read(file)),
    );
    expect(missing).to.equal([]);
  });
});
