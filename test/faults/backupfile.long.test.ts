import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { restoreFile, verifyFile } from '../../src/backup.js';
import { buildTarHeader, buildTarPadding, endOfTar } from '../../src/kernel/tar.js';
import { sealKeys } from '../../src/system/backup/keys.js';
import { computeManifestSum, sha256 } from '../../src/system/backup/manifest.js';
import { openStage, PASSPHRASE, type Stage } from '../system/backup/stage.js';
import { randomFrom } from './random.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const SEED = 20261120;

interface Entry {
  path: string;
  bytes: Buffer;
}

describe('the file of a backup', () => {
  let stage: Stage;
  let bytes: Buffer;
  let entries: Map<string, { offset: number; size: number }>;
  let count = 0;

  before(async () => {
    stage = await openStage();
    const { home } = stage.app;
    await mkdir(join(home, 'skills/one'), { recursive: true });
    await writeFile(join(home, 'skills/one/SKILL.md'), 'A skill');
    await writeFile(join(home, 'mcp.json'), '{"mcpServers":{"a":{"env":{"TOKEN":"plain-token"}}}}');
    await mkdir(join(home, 'clitools/claude'), { recursive: true });
    await writeFile(join(home, 'clitools/claude/login'), 'plain-login');
    await symlink(join(home, 'keys/master.key'), join(home, 'skills/one/link'));
    await stage.made({ passphrase: PASSPHRASE, folder: join(home, 'skills') });
    bytes = await readFile((await stage.made()).file);
    entries = placesIn(bytes);
  });
  after(() => stage.stop());

  /** Tries to restore it; the message of the refusal, and that nothing was written. */
  const refusal = async (content: Buffer, passphrase = PASSPHRASE): Promise<string> => {
    const home = join(stage.folder, `home-${++count}`);
    const file = join(stage.folder, `file-${count}`);
    await writeFile(file, content);
    try {
      await restoreFile({ home, file, passphrase }, () => undefined).done;
    } catch (error) {
      expect(existsSync(home)).to.be.false();
      return error instanceof Error ? error.message : '';
    }
    throw new Error('It was restored');
  };

  const flipped = (at: number): Buffer => {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
    return changed;
  };

  it('restores as it was, secrets and all, and leaves links and other backups out', async () => {
    const home = join(stage.folder, 'whole');
    const file = join(stage.folder, 'whole.tar');
    await writeFile(file, bytes);
    await restoreFile({ home, file, passphrase: PASSPHRASE }, () => undefined).done;
    for (const path of [
      'mcp.json',
      'clitools/claude/login',
      'skills/one/SKILL.md',
      'keys/master.key',
    ]) {
      const [ours, theirs] = [stage.app.home, home].map((root) => join(root, path));
      expect(await readFile(theirs ?? ''), path).to.equal(await readFile(ours ?? ''));
    }
    expect(await readdir(join(home, 'skills/one'))).to.equal(['SKILL.md']);
    expect(await readdir(join(home, 'skills'))).to.equal(['one']);
  });

  it('shows no key, no login and no secret to who has not the passphrase', async () => {
    const key = (await readFile(join(stage.app.home, 'keys/master.key'), 'utf8')).trim();
    for (const secret of [key, 'plain-token', 'plain-login', PASSPHRASE]) {
      expect(bytes.includes(secret)).to.be.false();
      expect(bytes.includes(Buffer.from(secret, 'base64'))).to.be.false();
    }
  });

  it('is refused with another passphrase', async () => {
    expect(await refusal(bytes, 'another passphrase')).to.equal('The passphrase is wrong');
  });

  it('is refused with a bit changed anywhere', async () => {
    const random = randomFrom(SEED);
    const anywhere = Array.from({ length: 50 }, () => Math.floor(random() * bytes.length));
    const inside = [
      'adjutant.db',
      'audit.head',
      'keys.sealed',
      'manifest.json',
      'manifest.sum',
    ].map((name) => {
      const { offset = 0, size = 1 } = entries.get(name) ?? {};
      return offset + Math.floor(random() * size);
    });
    for (const at of [...anywhere, ...inside]) {
      expect(await refusal(flipped(at)), `byte ${at}`).to.not.equal('');
    }
  });

  it('is refused cut short', async () => {
    for (const length of [0, 511, 512, bytes.length - 1024, bytes.length - 1]) {
      await refusal(bytes.subarray(0, length));
    }
  });

  const own = (name: string): Entry => {
    const { offset = 0, size = 0 } = entries.get(name) ?? {};
    return { path: name, bytes: bytes.subarray(offset, offset + size) };
  };
  const all = () => [...entries.keys()].map(own);

  it('is refused without its keys', async () => {
    const without = all().filter(({ path }) => path !== 'keys.sealed');
    expect(await refusal(packed(without))).to.contain('keys.sealed');
  });

  it('is refused where there is no master key among the keys', async () => {
    const { sealed } = await sealKeys(PASSPHRASE, { masterKeys: [Buffer.alloc(3)], files: [] });
    expect(await refusal(await forged([own('adjutant.db')], sealed))).to.contain('master key');
  });

  it('is refused where somebody else made its manifest', async () => {
    const message = await refusal(await forged([own('adjutant.db')], own('keys.sealed').bytes));
    expect(message).to.equal(
      'The manifest of the backup was not created with the keys in the backup. Use another backup',
    );
  });

  const forbidden =
    'The file is not a valid backup: the archive contains a file with a forbidden name: ';
  for (const [path, words] of [
    ['../outside', `${forbidden}"../outside". Use another backup`],
    ['/tmp/outside', `${forbidden}"/tmp/outside". Use another backup`],
    ['keys/master.key', 'keys/master.key is not allowed in a backup. Use another backup'],
    ['lock.db', 'lock.db is not allowed in a backup. Use another backup'],
    ['adjutant.db-wal', 'adjutant.db-wal is not allowed in a backup. Use another backup'],
    ['restoring', 'restoring is not allowed in a backup. Use another backup'],
    ['mcp.json', 'mcp.json is not allowed in a backup. Use another backup'],
  ] as const) {
    it(`is refused with ${path} in it, whoever made it`, async () => {
      const message = await refusal(
        await forged([own('adjutant.db'), { path, bytes: Buffer.from('x') }]),
      );
      expect(message).to.equal(words);
    });
  }

  it('is refused with secrets that lead out of the home', async () => {
    const content = Buffer.from('x').toString('base64');
    for (const path of ['clitools/../../outside', 'skills/a', '/etc/x', 'clitools//x']) {
      const { sealed, macKey } = await sealKeys(PASSPHRASE, {
        masterKeys: [Buffer.alloc(32, 1)],
        files: [{ path, content }],
      });
      const message = await refusal(await forged([own('adjutant.db')], sealed, macKey));
      expect(message, path).to.contain('forbidden file');
    }
  });

  it('is refused with a size beyond its end, and with a schema to come', async () => {
    const huge = { name: 'work/huge', size: 2 ** 45, isExecutable: false, mtime: 0 };
    expect(await refusal(Buffer.concat([buildTarHeader(huge), endOfTar()]))).to.contain(
      'larger than',
    );
    const message = await refusal(await forged([own('adjutant.db')], undefined, undefined, 9999));
    expect(message).to.contain('schema 9999');
  });

  it('is not good with a database that is damaged behind right digests', async () => {
    const database = Buffer.from(own('adjutant.db').bytes);
    database.fill(0xaa, 4096 * 3, 4096 * 6);
    const file = join(stage.folder, 'damaged.tar');
    await writeFile(file, await forged([{ path: 'adjutant.db', bytes: database }]));
    await expect(verifyFile({ file, passphrase: PASSPHRASE }, () => undefined).done).to.reject(
      /^The database in the backup is damaged/,
    );
  });

  it('is not good with a master key of another home', async () => {
    const file = join(stage.folder, 'foreign.tar');
    await writeFile(file, await forged([own('adjutant.db')]));
    await expect(verifyFile({ file, passphrase: PASSPHRASE }, () => undefined).done).to.reject(
      /^The master key does not belong to this database/,
    );
  });

  it('is restored into no home that holds something, and by one at a time', async () => {
    const file = join(stage.folder, 'twice.tar');
    await writeFile(file, bytes);
    const used = join(stage.folder, 'used');
    await mkdir(used);
    await writeFile(join(used, 'mine'), 'mine');
    const restore = (home: string) =>
      restoreFile({ home, file, passphrase: PASSPHRASE }, () => undefined).done;
    await expect(restore(used)).to.reject(/is not empty/);
    expect(await readdir(used)).to.equal(['mine']);
    const twice = join(stage.folder, 'twice');
    const ends = await Promise.allSettled([restore(twice), restore(twice)]);
    expect(ends.map(({ status }) => status).sort()).to.equal(['fulfilled', 'rejected']);
    expect(existsSync(join(twice, 'restoring'))).to.be.false();
  });
});

/** Where each entry of a sound backup lies, in order. */
const placesIn = (bytes: Buffer) => {
  const places = new Map<string, { offset: number; size: number }>();
  for (let at = 0; bytes[at] !== 0; ) {
    const name = bytes.toString('latin1', at, at + 100).replace(/\0+$/, '');
    const size = Number.parseInt(bytes.toString('latin1', at + 124, at + 135), 8);
    places.set(name, { offset: at + 512, size });
    at += 512 + size + buildTarPadding(size).length;
  }
  return places;
};

const packed = (list: Entry[]): Buffer =>
  Buffer.concat([
    ...list.flatMap(({ path, bytes }) => [
      buildTarHeader({ name: path, size: bytes.length, isExecutable: false, mtime: 1 }),
      bytes,
      buildTarPadding(bytes.length),
    ]),
    endOfTar(),
  ]);

/** A backup of somebody who knows the format, and the passphrase unless the keys are given. */
const forged = async (
  list: Entry[],
  sealed?: Buffer,
  macKey: Buffer = Buffer.alloc(32),
  schema = 250,
): Promise<Buffer> => {
  const made = sealed
    ? { sealed, macKey }
    : await sealKeys(PASSPHRASE, { masterKeys: [Buffer.alloc(32, 1)], files: [] });
  const files = [...list, { path: 'keys.sealed', bytes: made.sealed }];
  const manifest = Buffer.from(
    JSON.stringify({
      ...{ format: 1, version: '0.1.0', schema, createdAt: '2026-03-01T12:00:00.000Z' },
      ...{ newestDelivery: null, settings: [], skipped: [] },
      files: files.map(({ path, bytes }) => ({ path, size: bytes.length, sha256: sha256(bytes) })),
    }),
  );
  return packed([
    ...files,
    { path: 'manifest.json', bytes: manifest },
    { path: 'manifest.sum', bytes: computeManifestSum(manifest, made.macKey) },
  ]);
};
