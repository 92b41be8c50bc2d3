import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { nodePath } from '../../../cli/daemon/environment.js';
import { systemdUnit } from '../../../cli/daemon/install.js';

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

describe('the unit of systemd', () => {
  it('names absolute paths, and nothing that would keep bubblewrap from its namespaces', () => {
    const unit = systemdUnit({ home: '/srv/100% $mine', flags: ['--port', '3006'] });
    const [command = ''] = /^ExecStart=.*$/m.exec(unit) ?? [];
    expect(command).to.startWith(`ExecStart="${nodePath()}" "--max-semi-space-size=8" "/`);
    expect(command).to.endWith('"serve" "--home" "/srv/100%% $$mine" "--port" "3006"');
    expect(unit).to.contain(
      '\nEnvironment=MALLOC_MMAP_THRESHOLD_=131072\nEnvironment=MALLOC_TRIM_THRESHOLD_=1048576\nEnvironmentFile=-/srv/',
    );
    expect(unit).to.contain(
      '\n[Service]\nType=notify\nNotifyAccess=all\nWatchdogSec=60\nTimeoutStartSec=1h\nExecStart=',
    );
    expect(unit).to.not.match(/^(NoNewPrivileges|RestrictNamespaces|SystemCall|Private|Protect)/m);
  });
});
