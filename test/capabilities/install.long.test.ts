import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { openInstalledModels } from '../../src/capabilities/installedmodels.js';
import { verifyOperation } from '../../src/capabilities/verify.js';
import { DAMAGE_FILE } from '../../src/providers/llm/llama/files.js';
import { listPlainFiles } from '../../src/system/backup/home.js';
import { loginOwner, registerOwner } from '../harness/account.js';
import { until, untilMatches } from '../harness/app.js';
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
    expect(untold.error).to.contain('provides no checksum');
  });

  it('of another checksum or length is refused, and leaves nothing', async () => {
    await open();
    const folders = () => readdir(join(home, 'capabilities'));
    const wrong = await stage.install({ ...wanted(), sha256: 'ab'.repeat(32) });
    expect([wrong.status, wrong.error]).to.equal([
      'failed',
      `Checksum mismatch: ${SHA}, expected ${'ab'.repeat(32)}. The file was deleted. Check the URL and the checksum, then install again`,
    ]);
    expect([await folders(), await stage.listed('house')]).to.equal([['llama'], undefined]);
  });

  it('whose server is not there leaves no folder with nothing in it', async () => {
    await open({ status: 404 });
    const away = await stage.install(wanted());
    expect(away.error).to.equal('127.0.0.1 returned 404');
    expect(await readdir(join(home, 'capabilities'))).to.equal(['llama']);
  });

  it('that is longer than the catalogue says is refused, and leaves nothing', async () => {
    await open({}, { bytes: 1000 });
    const long = await stage.install({ id: 'gguf:tiny' });
    expect([long.status, await stage.partial()]).to.equal(['failed', []]);
    expect(long.error).to.contain('longer than the expected 1000 bytes');
  });

  it('for which there is no room is told before the first byte', async () => {
    await open({}, { bytes: 2 ** 50 });
    const full = await stage.install({ id: 'gguf:tiny' });
    expect(full.status).to.equal('failed');
    expect(full.error).to.match(/^Not enough disk space: 1073741824 MiB required/);
    expect([mirror.got, await stage.partial()]).to.equal([[], []]);
  });

  it('that does not fit the memory is begun with a warning, which the list has before', async () => {
    await open({}, { bytes: 2 ** 50 });
    const needed = 2 ** 50;
    const { warning } = (await stage.listed('gguf:tiny:Q8_0')).install;
    expect(warning.neededBytes >= needed && warning.usableBytes < needed).to.be.true();
    expect(warning.message).to.match(
      /^The model does not fit the memory that is available now. The model needs 1024 TiB/,
    );
    const { status, body } = await stage.ask('POST', '/api/capabilities/install', {
      id: 'gguf:tiny',
    });
    expect([status, body.warning.neededBytes]).to.equal([202, warning.neededBytes]);
    await stage.ended(body.id);
    await stage.restart({
      egressAllow: [mirror.entry],
      capabilitySource: null,
      catalogue: await writeCatalogue(home, [catalogueModel({}, { url: mirror.url })]),
    });
    expect((await stage.listed('gguf:tiny:Q8_0')).install.warning).to.be.null();
  });

  it('tells while it waits to try again how far it is, when it goes on and why', async () => {
    await open({ breaksAfter: [1000, 1000, 1000] }, { sha256: 'ab'.repeat(32) });
    const { body } = await stage.ask('POST', '/api/capabilities/install', { id: 'gguf:tiny' });
    const { progress } = await until(
      async () => (await stage.ask('GET', `/api/operations/${body.id}`)).body,
      (operation) => operation.progress.retry?.attempt === 3,
    );
    expect([progress.done, progress.total]).to.equal([1000, FILE.length]);
    const { nextAt, ...retry } = progress.retry;
    expect(retry).to.equal({
      attempt: 3,
      of: 8,
      reason: '127.0.0.1: the connection was interrupted',
    });
    expect(new Date(nextAt).toISOString()).to.equal(nextAt);
    const ended = await stage.ended(body.id);
    expect(ended.error).to.contain('Checksum mismatch: ');
    expect(ended.progress).to.not.include('retry');
  });

  it('of a file that is no model is refused, and leaves nothing', async () => {
    await open();
    const other = await startMirror(Buffer.from('GGUF, but no header'));
    await stage.restart({ egressAllow: [other.entry], capabilitySource: null });
    const sha256 = sha256Of(Buffer.from('GGUF, but no header'));
    const operation = await stage.install({ id: 'gguf:bad', url: other.url, sha256 });
    expect(operation.status).to.equal('failed');
    expect(operation.error).to.match(/^The file is not a supported model\. /);
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
    await untilMatches(() => stage.partial(), { length: 0 });
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
      '1 of 1 file is damaged: model.gguf has a wrong checksum. Its file is damaged. Reinstall it with: adjutant capabilities install house',
    ]);
    expect(await stage.listed('house')).to.include({ status: 'degraded' });
    await writeFile(path, FILE);
    expect((await verify()).status).to.equal('completed');
    expect(await stage.listed('house')).to.include({ status: 'available', reason: null });
    await rm(path);
    expect((await stage.listed('house')).reason).to.contain('model.gguf is missing');
  });

  it('is not recommended once it is damaged, and whole and up again after its installation', async () => {
    const model = { name: 'home', provider: 'llama', modelId: 'house' };
    await stage.ask('POST', '/api/models', model);
    const row = async () =>
      (await stage.ask('GET', '/api/capabilities/hardware?contextWindow=256')).body.fit.find(
        (each: { model: string }) => each.model === 'house',
      );
    expect(await row()).to.include({ installed: true, reason: null });
    await writeFile(join(stage.home, 'capabilities/house/model.gguf'), 'torn');
    await verify();
    const why = 'Its file is damaged. Reinstall it with: adjutant capabilities install house';
    expect(await row()).to.include({ reason: why, why, recommended: false, recommendedFor: [] });
    // The failure of a call is forgotten too.
    await stage.ask('POST', '/api/models/home/test');
    const health = async () => (await stage.ask('GET', '/api/models/home')).body.health;
    expect((await health()).lastError).to.equal(why);
    const again = { id: 'gguf:house', url: mirror.url, sha256: SHA };
    expect((await stage.install({ ...again, useCase: 'chat' })).result).to.include({
      model: 'home',
    });
    expect(await stage.listed('house')).to.include({ status: 'available', reason: null });
    expect(await health()).to.include({ status: 'unknown', lastError: null });
    expect((await row()).reason).to.be.null();
  });

  it('that was installed again while it was checked is not marked as damaged', async () => {
    const shelf = openInstalledModels(stage.home);
    await writeFile(join(stage.home, 'capabilities/house/model.gguf'), 'damaged');
    const states = [await shelf.find('house'), await shelf.find('house')];
    const [, later] = states;
    if (later) later.installedAt = '2099-01-01T00:00:00.000Z';
    const find = async () => states.shift() ?? null;
    const { run } = verifyOperation({
      shelf: { ...shelf, find },
      unload: async () => {},
      renewed: async () => {},
    });
    const ended = await run({
      ...{ id: 'o', userId: 'u', input: { slug: 'house' }, checkpoint: null },
      commit: async () => {},
      refuseForbidden: async () => {},
      progress: () => {},
      signal: new AbortController().signal,
    });
    const error = 'house was deleted or reinstalled during the verification';
    expect(ended).to.equal({ status: 'failed', error });
    expect(await readdir(join(stage.home, 'capabilities/house'))).to.not.include(DAMAGE_FILE);
  });

  it('is in no backup: it can be fetched again', () => {
    const { files } = listPlainFiles(stage.home);
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
