import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { buildTarHeader, buildTarPadding, endOfTar } from '../../../src/kernel/tar.js';
import { BadBackup, MANIFEST, SUM, sha256 } from '../../../src/system/backup/manifest.js';
import { withBackup } from '../../../src/system/backup/reader.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const AT = '2026-01-01T00:00:00.000Z';
const DATABASE = 'adjutant.db';

describe('a file that is no backup', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'adjutant-reader-'));
  });
  after(() => rm(folder, { recursive: true }));

  /** The error of a backup with these paths in its manifest and its archive. */
  const faultOf = async (listed: string[], inside: string[]): Promise<string> => {
    const content = Buffer.from('x');
    const files = listed.map((path) => ({ path, size: 1, sha256: sha256(content) }));
    const manifest = Buffer.from(
      JSON.stringify({
        ...{ format: 1, version: '1', schema: 1, createdAt: AT, newestDelivery: null },
        ...{ settings: [], skipped: [], files },
      }),
    );
    const sum = Buffer.from(`${sha256(manifest)} ${'0'.repeat(64)}\n`);
    const entries: [string, Buffer][] = [
      ...inside.map((name): [string, Buffer] => [name, content]),
      [MANIFEST, manifest],
      [SUM, sum],
    ];
    const tar = entries.flatMap(([name, bytes]) => [
      buildTarHeader({ name, size: bytes.length, isExecutable: false, mtime: 0 }),
      bytes,
      buildTarPadding(bytes.length),
    ]);
    const file = join(folder, 'backup.tar');
    await writeFile(file, Buffer.concat([...tar, endOfTar()]));
    const reading = { file, passphrase: 'a passphrase', schemas: [1] };
    const work = withBackup(reading, { step: () => undefined }, async () => undefined);
    return (await expect(work).to.reject(BadBackup)).message;
  };

  it('names the file that is missing or occurs twice', async () => {
    const fault = 'The file is not a valid backup:';
    const remedy = 'Use another backup';
    expect(await faultOf([DATABASE, 'note', 'note'], [DATABASE, 'note'])).to.equal(
      `${fault} the manifest lists note twice. ${remedy}`,
    );
    expect(await faultOf([DATABASE, 'note'], [DATABASE])).to.equal(
      `${fault} note is missing. ${remedy}`,
    );
    expect(await faultOf(['note'], ['note'])).to.equal(
      `${fault} ${DATABASE} is missing. ${remedy}`,
    );
  });
});
