import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { nodePath } from '../../../cli/daemon/environment.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('the path of Node for a service', () => {
  const own = realpathSync(process.execPath);
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'adjutant-path-'));
    for (const name of ['link', 'other', 'none']) mkdirSync(join(folder, name));
    symlinkSync(own, join(folder, 'link/node'));
    writeFileSync(join(folder, 'other/node'), '#!/bin/sh\n');
  });
  after(() => rmSync(folder, { recursive: true }));

  const path = (...names: string[]) => names.map((name) => join(folder, name)).join(delimiter);

  it('is the link on PATH that leads to this Node', () => {
    expect(nodePath(path('none', 'other', 'link'), [])).to.equal(join(folder, 'link/node'));
  });

  it('is its own where no such link is there, or only a temporary or relative one', () => {
    expect(nodePath(path('none', 'other'), [])).to.equal(own);
    expect(nodePath(path('link'), [folder])).to.equal(own);
    expect(nodePath('.', [])).to.equal(own);
  });
});
