import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { offerToCloseRegistration } from '../../../cli/commands/closeregistration.js';
import { findProcess, writeRecord } from '../../../cli/daemon/process.js';
import { terminalOf } from '../terminal.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const URL_HERE = 'http://127.0.0.1:4003';
const LATER = '    To require an invite for each new account: ';

describe('the offer to close registration', () => {
  let folder: string;
  let home: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'adjutant-offer-'));
    home = join(folder, 'a home');
    const own = findProcess(process.pid);
    if (own === null) throw new Error('This process is not found');
    writeRecord(home, { ...own, url: URL_HERE, startedAt: '2026-03-01T12:00:00.000Z', flags: [] });
  });
  after(() => rmSync(folder, { recursive: true }));

  const offered = async (
    flags: { server?: string; yes?: boolean; home?: string },
    answer: string | null = null,
  ): Promise<string> => {
    const { context, shown } = terminalOf({ server: URL_HERE, home, ...flags }, answer);
    await offerToCloseRegistration(context);
    context.close();
    return shown();
  };
  const later = () => `${LATER}ADJUTANT_REGISTRATION=invite adjutant restart --home '${home}'\n`;

  it('is one note with the command without a terminal, and with --yes', async () => {
    expect(await offered({})).to.equal(later());
    expect(await offered({ yes: true }, 'y')).to.equal(later());
  });

  it('changes nothing on enter alone, and notes the command', async () => {
    const shown = await offered({}, '');
    expect(shown).to.include('with a name and a password alone').and.to.include('[y/N] ');
    expect(shown.endsWith(later())).to.be.true();
  });

  it('names the setting where the daemon was started by other means', async () => {
    const other = { home: join(folder, 'none') };
    expect(await offered(other, 'y')).to.equal(
      `${LATER}start the daemon with ADJUTANT_REGISTRATION=invite\n`,
    );
  });

  it('is not made for a daemon on another machine', async () => {
    expect(await offered({ server: 'https://hooks.example.org' }, 'y')).to.equal('');
  });
});
