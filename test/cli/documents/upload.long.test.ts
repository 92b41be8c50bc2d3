import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { openForSuite } from '../../harness/suite.js';
import { openWorld } from '../world.js';

export const lab = Lab.script();
const { beforeEach, describe, it } = lab;

describe('an upload', () => {
  const world = openForSuite(lab, openWorld);
  beforeEach(() => world.arrive());

  const names = async () => {
    const { documents } = await world.client.documents.list();
    return documents.map(({ filename }) => filename).sort();
  };

  it('takes several paths, and a delete several documents', async () => {
    const paths = [await world.file('a.txt', 'Lanterns'), await world.file('b.txt', 'Brass')];
    const sent = await world.cli(['documents', 'upload', ...paths]);
    expect([sent.code, sent.stderr]).to.equal([0, 'Uploaded and read: 2 documents.\n']);
    expect(await names()).to.equal(['a.txt', 'b.txt']);
    await world.cli(['documents', 'delete', 'a.txt', 'b.txt', '--yes']);
    expect(await names()).to.equal([]);
  });

  it('takes standard input under a name, and says that it needs one', async () => {
    const words = ['documents', 'upload', '-'];
    const refused = await world.cli(words, { stdin: 'Copper' });
    expect([refused.code, refused.stderr.includes('upload - --name letter.pdf')]).to.equal([
      ...[2, true],
    ]);
    await world.cli([...words, '--name', 'copper.txt'], { stdin: 'Copper' });
    expect(await names()).to.equal(['copper.txt']);
  });

  it('says that a file was there already, and that its tags stay', async () => {
    const path = await world.file('c.txt', 'Tin');
    await world.cli(['documents', 'upload', path, '--tags', 'mixed']);
    const again = await world.cli(['documents', 'upload', path, '--tags', 'other', '--json']);
    expect(again.stderr).to.equal('c.txt already exists, and its tags are unchanged.\n');
    expect(JSON.parse(again.stdout).documents[0]).to.include({ duplicate: true, tags: ['mixed'] });
    for (const flag of ['--tags', '--tag']) {
      const listed = await world.cli(['documents', 'list', flag, 'mixed', '--fields', 'tags']);
      expect(listed.stdout).to.equal('mixed\n');
    }
    const others = await world.cli(['documents', 'list', '--tags', 'other']);
    expect(others.stdout).to.equal('');
  });

  it('of a folder says how many hidden files were left out', async () => {
    const path = await world.file('seen.txt', 'Copper roof');
    const folder = join(dirname(path), 'mixed');
    await mkdir(join(folder, '.kept'), { recursive: true });
    await writeFile(join(folder, 'seen.txt'), 'A copper roof');
    await writeFile(join(folder, '.hidden.txt'), 'Hidden');
    await writeFile(join(folder, '.kept', 'inner.txt'), 'Hidden as well');
    const sent = await world.cli(['documents', 'upload', folder]);
    expect(sent.stderr).to.equal('Uploaded and read: 1 document.\nSkipped: 2 hidden files.\n');
  });

  it('of a folder names a file that cannot be opened, and uploads the others', async () => {
    const folder = join(dirname(await world.file('read.txt', 'Copper roof')), 'odd');
    await mkdir(folder);
    await writeFile(join(folder, 'a.txt'), 'A copper roof');
    const odd = Buffer.concat([Buffer.from(`${folder}/gr`), Buffer.from([0xfc])]);
    await writeFile(odd, 'A tin roof');
    const sent = await world.cli(['documents', 'upload', folder]);
    expect([sent.code, sent.stderr]).to.equal([
      1,
      `${folder}/gr\ufffd cannot be read. If its name is not valid UTF-8, rename it. Otherwise check its permissions.\nUploaded and read: 1 document.\n`,
    ]);
    expect(await names()).to.equal(['a.txt']);
  });

  it('shows in the list why one could not be read', async () => {
    const list = () => world.cli(['documents', 'list'], { terminal: 120 });
    await world.cli(['documents', 'upload', await world.file('d.txt', 'Zinc')]);
    expect((await list()).stdout).not.to.include('ERROR');
    await world.cli(['documents', 'upload', await world.file('e.pdf', '%PDF-1.4 no more')]);
    expect((await list()).stdout).to.match(/STATUS +ERROR/);
  });
});
