import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { openFiles } from '../../src/system/backup/home.js';
import { loginOwner, registerOwner } from '../harness/account.js';
import { until } from '../harness/app.js';
import { catalogueModel, writeCatalogue } from '../harness/catalogue.js';
import { type Daemon, startDaemon } from '../harness/daemon.js';
import { type MirrorHabits, sha256Of, startMirror } from './mirror.js';
import { type CapabilityStage, placeEngine, scriptedModel, startCapabilities } from './stage.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const FILE = await scriptedModel();
const SHA = sha256Of(FILE);
/** A licence that a person is to accept. */
const TERMS = { id: 'x', name: 'Terms of X', url: 'https://example.org/x', mustAccept: true };

describe('an installation', () => {
  let stage: CapabilityStage;
  let mirror: Awaited<ReturnType<typeof startMirror>>;
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'capabilities-'));
    await placeEngine(home);
  });
  afterEach(async () => {
    await stage.stop();
    mirror.release();
    await mirror.close();
    await rm(home, { recursive: true, force: true });
  });

  /** Opens the daemon, with a catalogue whose one file is at the mirror if a part of it is given. */
  const open = async (habits: MirrorHabits = {}, file?: object, model: object = {}) => {
    mirror = await startMirror(FILE, habits);
    const told = { url: mirror.url, bytes: FILE.length, sha256: SHA, ...file };
    const config = {
      egressAllow: [mirror.entry],
      catalogue: file ? await writeCatalogue(home, [catalogueModel(model, told)]) : null,
      capabilitySource: null,
    };
    stage = await startCapabilities({ home, config });
  };
  const wanted = () => ({ id: 'gguf:house', url: mirror.url, sha256: SHA });

  it('goes on after the connection broke at 37 %, and is there then', async () => {
    await open({ breaksAfter: [Math.round(FILE.length * 0.37)] });
    const operation = await stage.install(wanted());
    expect(operation).to.include({ status: 'completed', error: null });
    expect(operation.result).to.equal({ id: 'house', model: null });
    expect(mirror.ranges).to.equal([undefined, `bytes=${Math.round(FILE.length * 0.37)}-`]);
    expect((await readFile(join(home, 'capabilities/house/model.gguf'))).equals(FILE)).to.be.true();
    expect(await stage.listed('house')).to.include({ kind: 'model', status: 'available' });
    const again = await stage.ask('POST', '/api/capabilities/install', wanted());
    expect([again.status, again.body.code]).to.equal([409, 'installed']);
  });

  it('of a file of the catalogue needs its id alone, and is known by its slug', async () => {
    await open({}, {});
    expect(await stage.listed('gguf:tiny:Q8_0')).to.include({ status: 'missing' });
    const operation = await stage.install({ id: 'gguf:tiny' });
    expect(operation.result).to.equal({ id: 'tiny-q8_0', model: null });
    expect(await stage.listed('gguf:tiny:Q8_0')).to.be.undefined();
    expect((await stage.listed('tiny-q8_0')).version).to.equal('Q8_0');
  });

  it('takes the checksum that the server tells where the catalogue has none', async () => {
    await open({ tellsSum: true }, { sha256: null });
    expect((await stage.install({ id: 'gguf:tiny' })).status).to.equal('completed');
    await stage.ask('DELETE', '/api/capabilities/tiny-q8_0');
    mirror.server.removeAllListeners('request');
    mirror.server.on('request', (_, response) => response.writeHead(200).end());
    const untold = await stage.install({ id: 'gguf:tiny' });
    expect(untold).to.include({ status: 'failed' });
    expect(untold.error).to.contain('tells no checksum');
  });

  it('of another checksum or length is refused, and leaves nothing', async () => {
    await open();
    const wrong = await stage.install({ ...wanted(), sha256: 'ab'.repeat(32) });
    expect([wrong.status, wrong.error]).to.equal([
      'failed',
      `Its checksum is ${SHA} in place of ${'ab'.repeat(32)}; it was removed`,
    ]);
    expect([await stage.partial(), await stage.listed('house')]).to.equal([[], undefined]);
  });

  it('that is longer than the catalogue says is refused, and leaves nothing', async () => {
    await open({}, { bytes: 1000 });
    const long = await stage.install({ id: 'gguf:tiny' });
    expect([long.status, await stage.partial()]).to.equal(['failed', []]);
    expect(long.error).to.contain('longer than the 1000 bytes');
  });

  it('for which there is no room is told before the first byte', async () => {
    await open({}, { bytes: 2 ** 50 });
    const full = await stage.install({ id: 'gguf:tiny' });
    expect(full.status).to.equal('failed');
    expect(full.error).to.match(/^There is no room: it takes 1073741824 MiB/);
    expect([mirror.got, await stage.partial()]).to.equal([[], []]);
  });

  it('of a file that is no model is refused, and leaves nothing', async () => {
    await open();
    const other = await startMirror(Buffer.from('GGUF, but no header'));
    await stage.restart({ egressAllow: [other.entry], capabilitySource: null });
    const sha256 = sha256Of(Buffer.from('GGUF, but no header'));
    const operation = await stage.install({ id: 'gguf:bad', url: other.url, sha256 });
    expect(operation.status).to.equal('failed');
    expect(operation.error).to.match(/^It is no model that runs here: /);
    expect([await stage.partial(), await stage.listed('bad')]).to.equal([[], undefined]);
    await other.close();
  });

  it('goes on from nothing that was begun for another file', async () => {
    await open({ status: 503 });
    const folder = join(home, 'capabilities/.partial/house');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'model.gguf'), 'half of another model');
    await writeFile(join(folder, 'model-00001-of-00002.gguf'), 'a part of another model');
    const good = await startMirror(FILE);
    await stage.restart({ egressAllow: [good.entry], capabilitySource: null });
    const operation = await stage.install({ ...wanted(), url: good.url });
    expect([operation.status, good.ranges]).to.equal(['completed', [undefined]]);
    const { files } = JSON.parse(
      await readFile(join(home, 'capabilities/house/capability.json'), 'utf8'),
    );
    expect(files.map(({ path }: { path: string }) => path)).to.equal(['model.gguf']);
    await good.close();
  });

  it('of two at once is one, and the other is told', async () => {
    await open({ stallsAfter: 1000 });
    const replies = await Promise.all(
      [1, 2].map(() => stage.ask('POST', '/api/capabilities/install', wanted())),
    );
    expect(replies.map(({ status }) => status).sort()).to.equal([202, 409]);
    expect(replies.find(({ status }) => status === 409)?.body.code).to.equal('installing');
  });

  it('that is cancelled leaves nothing', async () => {
    await open({ stallsAfter: 100_000 });
    const { body } = await stage.ask('POST', '/api/capabilities/install', wanted());
    await until(
      async () => (await stage.ask('GET', `/api/operations/${body.id}`)).body.progress.done,
      (done) => done > 0,
    );
    const busy = await stage.ask('POST', '/api/capabilities/install', wanted());
    expect([busy.status, busy.body.code]).to.equal([409, 'installing']);
    await stage.ask('POST', `/api/operations/${body.id}/cancel`);
    await until(
      () => stage.partial(),
      (left) => left.length === 0,
    );
    expect(await stage.listed('house')).to.be.undefined();
  });

  it('asks for the agreement to a licence of its own', async () => {
    await open({}, {}, { licence: TERMS });
    const { status, body } = await stage.ask('POST', '/api/capabilities/install', {
      id: 'gguf:tiny',
    });
    expect([status, body.details[0].path]).to.equal([400, 'acceptLicence']);
    expect(body.details[0].message).to.contain('Terms of X, https://example.org/x');
    expect(mirror.got).to.equal([]);
    const agreed = await stage.install({ id: 'gguf:tiny', acceptLicence: true });
    expect(agreed.status).to.equal('completed');
  });

  it('is for admins, who alone see where things are', async () => {
    await open();
    const { token } = await stage.register('somebody');
    const theirs = await stage.call('POST', '/api/capabilities/install', { token, body: wanted() });
    expect(theirs.status).to.equal(403);
    await stage.install(wanted());
    const { body } = await stage.call('GET', '/api/capabilities', { token });
    const paths = body.capabilities.map(({ path }: { path: string | null }) => path);
    expect(new Set(paths)).to.equal(new Set([null]));
    expect((await stage.listed('house')).path).to.equal(join(home, 'capabilities/house'));
  });

  it('comes from a folder where the settings name one, and from nowhere else', async () => {
    const source = join(home, 'usb');
    await mkdir(join(source, 'house'), { recursive: true });
    mirror = await startMirror(FILE);
    const manifest = {
      ...{ id: 'gguf:house', kind: 'model', name: 'house', version: null, licence: null },
      ...{ source: mirror.url, useCases: [], installedAt: '2026-11-01T00:00:00.000Z' },
      files: [{ path: 'model.gguf', bytes: FILE.length, sha256: SHA }],
    };
    await writeFile(join(source, 'house/capability.json'), JSON.stringify(manifest));
    await writeFile(join(source, 'house/model.gguf'), FILE);
    stage = await startCapabilities({ home, config: { capabilitySource: source } });
    expect((await stage.install(wanted())).status).to.equal('completed');
    expect(mirror.got).to.equal([]);
    await stage.ask('DELETE', '/api/capabilities/house');
    await writeFile(join(source, 'house/model.gguf'), Buffer.alloc(FILE.length));
    const forged = await stage.install(wanted());
    expect([forged.status, await stage.partial()]).to.equal(['failed', []]);
    expect(forged.error).to.contain(`has not the checksum ${SHA}`);
    const named = {
      ...manifest,
      files: [{ ...manifest.files[0], path: 'model-00001-of-00001.gguf' }],
    };
    await writeFile(join(source, 'house/capability.json'), JSON.stringify(named));
    await writeFile(join(source, 'house/model-00001-of-00001.gguf'), FILE);
    const renamed = await stage.install(wanted());
    expect([renamed.status, renamed.error]).to.equal([
      'failed',
      `${source}/house has no model.gguf`,
    ]);
    for (const path of ['\n/../../../pwned', '../x', 'a/../../x', '/etc/x', 'a\\b']) {
      const escaping = { ...manifest, files: [{ ...manifest.files[0], path }] };
      await writeFile(join(source, 'house/capability.json'), JSON.stringify(escaping));
      expect((await stage.install(wanted())).error).to.equal(`${source} has no house`);
    }
    const absent = await stage.install({ id: 'gguf:other', url: mirror.url, sha256: SHA });
    expect(absent.error).to.equal(`${source} has no other`);
  });
});

describe('what is installed', () => {
  let stage: CapabilityStage;
  let mirror: Awaited<ReturnType<typeof startMirror>>;
  beforeEach(async () => {
    mirror = await startMirror(FILE);
    const config = { egressAllow: [mirror.entry], capabilitySource: null };
    stage = await startCapabilities({ config });
    await placeEngine(stage.home);
    await stage.install({ id: 'gguf:house', url: mirror.url, sha256: SHA });
  });
  afterEach(async () => {
    await stage.stop();
    await mirror.close();
  });

  const verify = async () => {
    const { body } = await stage.ask('POST', '/api/capabilities/house/verify');
    return stage.ended(body.id);
  };

  it('is checked against its checksums, and degraded once a file is damaged', async () => {
    expect((await verify()).result).to.equal({ files: 1, bytes: FILE.length });
    const path = join(stage.home, 'capabilities/house/model.gguf');
    const damaged = Buffer.from(FILE);
    damaged.writeUInt8((damaged.readUInt8(1000) + 1) % 256, 1000);
    await writeFile(path, damaged);
    const found = await verify();
    expect([found.status, found.error]).to.equal([
      'failed',
      '1 of 1 files are damaged: model.gguf has another checksum. Remove it and install it again',
    ]);
    expect(await stage.listed('house')).to.include({ status: 'degraded' });
    await writeFile(path, FILE);
    expect((await verify()).status).to.equal('completed');
    expect(await stage.listed('house')).to.include({ status: 'available', reason: null });
    await rm(path);
    expect((await stage.listed('house')).reason).to.contain('model.gguf is missing');
  });

  it('is in no backup: it can be fetched again', () => {
    const { files } = openFiles(stage.home);
    expect(files.filter(({ path }) => path.includes('house'))).to.equal([]);
    expect(files.map(({ path }) => path.split('/')[0])).to.not.include('capabilities');
  });

  it('is removed with its files, and is not found then', async () => {
    expect((await stage.ask('DELETE', '/api/capabilities/house')).status).to.equal(204);
    expect(await stage.listed('house')).to.be.undefined();
    expect(await stage.partial()).to.equal([]);
    for (const slug of ['house', '..%2F..%2Fetc', 'nothing']) {
      expect((await stage.ask('DELETE', `/api/capabilities/${slug}`)).status).to.equal(404);
    }
  });
});

describe('an installation, killed', () => {
  it('goes on from where it was at the next start', async () => {
    const home = await mkdtemp(join(tmpdir(), 'capabilities-'));
    await placeEngine(home);
    const mirror = await startMirror(FILE, { stallsAfter: 150_000 });
    const start = (): Promise<Daemon> =>
      startDaemon({ home, env: { ADJUTANT_EGRESS_ALLOW: mirror.entry } });
    let daemon = await start();
    const owner = await registerOwner(daemon.url);
    const begun = await owner.capabilities.install({
      body: { id: 'gguf:house', url: mirror.url, sha256: SHA },
    });
    const file = join(home, 'capabilities/.partial/house/model.gguf');
    await until(
      async () => (await readFile(file).catch(() => Buffer.alloc(0))).length,
      (size) => size === 150_000,
    );
    await daemon.end('SIGKILL');
    mirror.release();
    daemon = await start();
    const again = await loginOwner(daemon.url);
    const ended = await until(
      () => again.operations.get({ id: begun.id }),
      ({ status }) => !['queued', 'running'].includes(status),
    );
    expect([ended.status, ended.error]).to.equal(['completed', null]);
    expect(mirror.ranges).to.equal([undefined, 'bytes=150000-']);
    expect((await readFile(join(home, 'capabilities/house/model.gguf'))).equals(FILE)).to.be.true();
    await daemon.end('SIGTERM');
    await mirror.close();
    await rm(home, { recursive: true, force: true });
  });
});
