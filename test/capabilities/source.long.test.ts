import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { catalogueModel, writeCatalogue } from '../harness/catalogue.js';
import { sha256Of, startMirror } from './mirror.js';
import { type CapabilityStage, placeEngine, scriptedModel, startCapabilities } from './stage.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const FILE = await scriptedModel();
const SHA = sha256Of(FILE);

describe('a folder to install from', () => {
  let stage: CapabilityStage;
  let mirror: Awaited<ReturnType<typeof startMirror>>;
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'capabilities-'));
    await placeEngine(home);
  });
  afterEach(async () => {
    await stage.stop();
    await mirror.close();
    await rm(home, { recursive: true, force: true });
  });
  const wanted = () => ({ id: 'gguf:house', url: mirror.url, sha256: SHA });

  const manifestOf = (over: object = {}) => ({
    ...{ id: 'gguf:house', kind: 'model', name: 'house', version: null, licence: null },
    ...{ source: mirror.url, useCases: [], installedAt: '2026-11-01T00:00:00.000Z' },
    files: [{ path: 'model.gguf', bytes: FILE.length, sha256: SHA }],
    ...over,
  });
  /** Writes a folder as `adjutant capabilities export` does; resolves to that of all. */
  const hold = async (slug: string, over: object = {}): Promise<string> => {
    const source = join(home, 'usb');
    await mkdir(join(source, slug), { recursive: true });
    await writeFile(join(source, slug, 'capability.json'), JSON.stringify(manifestOf(over)));
    await writeFile(join(source, slug, 'model.gguf'), FILE);
    return source;
  };

  /** Opens a daemon whose folder holds two models, one of the catalogue, and what is none. */
  const open = async (): Promise<string> => {
    mirror = await startMirror(FILE);
    const source = await hold('house', { id: 'gguf:other', licence: 'Terms of H' });
    await hold('tiny-q8_0', { id: 'gguf:tiny:Q8_0', name: 'Tiny Q8_0' });
    await hold('node');
    await hold('notes', { files: [] });
    await writeFile(join(source, 'house/extra.js'), 'planned by nobody');
    const file = { url: 'https://models.example.org/tiny.gguf', sha256: SHA, bytes: FILE.length };
    const catalogue = await writeCatalogue(home, [
      catalogueModel({}, file),
      catalogueModel({ id: 'absent', name: 'Absent' }, file),
    ]);
    stage = await startCapabilities({ home, config: { capabilitySource: source, catalogue } });
    return source;
  };

  it('is listed with what it holds', async () => {
    const source = await open();
    const { body } = await stage.ask('GET', '/api/capabilities');
    const shared = { kind: 'model', version: null, bytes: FILE.length, installed: false };
    const items = [
      { id: 'gguf:house', slug: 'house', name: 'house', licence: 'Terms of H', ...shared },
      { id: 'gguf:tiny:Q8_0', slug: 'tiny-q8_0', name: 'Tiny Q8_0', licence: null, ...shared },
    ];
    expect(body.source).to.equal({ path: source, fault: null, items });
    const { install } = await stage.listed('gguf:house');
    expect(install).to.include({ source, bytes: FILE.length, licence: 'Terms of H' });
    expect(await stage.listed('gguf:absent:Q8_0')).to.include({
      status: 'missing',
      reason: 'The source folder does not contain it',
      install: null,
    });
  });

  it('decides which models can be had', async () => {
    const source = await open();
    const { fit } = (await stage.ask('GET', '/api/capabilities/hardware?useCase=chat')).body;
    const seen = fit.map((each: Record<string, unknown>) => [
      ...[each.model, each.reason, each.recommended, each.installed],
    ]);
    const lack = 'The source folder contains only gguf:house, gguf:tiny:Q8_0';
    expect(seen).to.equal([
      ['gguf:tiny:Q8_0', null, false, false],
      ['gguf:absent:Q8_0', lack, false, false],
      ['gguf:house', null, true, false],
    ]);
    await rm(source, { recursive: true });
    const gone = (await stage.ask('GET', '/api/capabilities/hardware?useCase=chat')).body.fit;
    const reason = 'Source folder: It does not exist';
    expect(gone.map((each: Record<string, unknown>) => [each.model, each.reason])).to.equal([
      ['gguf:tiny:Q8_0', reason],
      ['gguf:absent:Q8_0', reason],
    ]);
  });

  it('gives what it holds for its id alone, and no file beside it', async () => {
    await open();
    const ended = await stage.install({ id: 'gguf:house', useCase: 'chat' });
    expect([ended.error, ended.result]).to.equal([null, { id: 'house', model: 'house' }]);
    expect(await readdir(join(home, 'capabilities/house'))).to.equal([
      'capability.json',
      'model.gguf',
    ]);
    expect((await stage.install({ id: 'gguf:tiny' })).error).to.be.null();
    const { token } = await stage.register('somebody');
    const theirs = await stage.call('GET', '/api/capabilities', { token });
    expect(theirs.text).to.not.contain(home);
    const marks = theirs.body.source.items.map((each: { installed: boolean }) => each.installed);
    expect([marks, theirs.body.source.path]).to.equal([[true, true], null]);
    expect(mirror.got).to.equal([]);
  });

  it('gives what it holds for the id that it had where it was exported', async () => {
    await open();
    const ended = await stage.install({ id: 'gguf:other' });
    expect([ended.error, ended.result]).to.equal([null, { id: 'house', model: null }]);
    const { bytes, licence } = await stage.listed('house');
    expect([bytes, licence]).to.equal([FILE.length, 'Terms of H']);
  });

  it('asks for the agreement to terms that came with what was exported', async () => {
    await open();
    const licenceUrl = 'https://example.org/terms';
    await hold('barn', { id: 'gguf:barn', licence: 'Terms of B', mustAccept: true, licenceUrl });
    const { install } = await stage.listed('gguf:barn');
    expect(install).to.include({ licence: 'Terms of B', licenceUrl, mustAccept: true });
    const refused = await stage.ask('POST', '/api/capabilities/install', { id: 'gguf:barn' });
    expect([refused.status, refused.body.details[0]]).to.equal([
      400,
      {
        path: 'acceptLicence',
        message: `must be true because the model has special licence terms: Terms of B, ${licenceUrl}`,
      },
    ]);
    const ended = await stage.install({ id: 'gguf:barn', acceptLicence: true });
    expect(ended.error).to.be.null();
    const manifest = await readFile(join(home, 'capabilities/barn/capability.json'), 'utf8');
    expect(JSON.parse(manifest)).to.include({ mustAccept: true, licenceUrl });
  });

  it('gives no file that its manifest does not describe rightly, without a checksum typed', async () => {
    mirror = await startMirror(FILE);
    const source = await hold('house');
    await writeFile(join(source, 'house/model.gguf'), Buffer.alloc(FILE.length));
    stage = await startCapabilities({ home, config: { capabilitySource: source } });
    const forged = await stage.install({ id: 'gguf:house' });
    expect(forged.error).to.contain(`does not have the SHA-256 ${SHA}`);
    expect([await stage.partial(), await stage.listed('house')]).to.equal([[], undefined]);
  });

  it('gives nothing but regular files of the length that is told', async () => {
    mirror = await startMirror(FILE);
    const source = await hold('house');
    stage = await startCapabilities({ home, config: { capabilitySource: source } });
    const path = join(source, 'house/model.gguf');
    const errorOf = async () => (await stage.install({ id: 'gguf:house' })).error;
    await writeFile(path, Buffer.concat([FILE, FILE]));
    const lengths = `has ${2 * FILE.length} bytes, expected ${FILE.length}`;
    expect(await errorOf()).to.equal(`The file model.gguf ${lengths}. Export the capability again`);
    const kinds: (() => unknown)[] = [
      () => execFileSync('mkfifo', [path]),
      () => mkdir(path),
      () => symlink('/dev/zero', path),
    ];
    for (const make of kinds) {
      await rm(path, { recursive: true });
      await make();
      expect(await errorOf()).to.equal('model.gguf is not a regular file');
    }
    await rm(path, { recursive: true });
    expect(await errorOf()).to.equal('model.gguf is missing');
    expect(await stage.partial()).to.equal([]);
  });

  it('holds nothing whose manifest is not a regular file, too long, or of unknown uses', async () => {
    mirror = await startMirror(FILE);
    const source = await hold('house');
    await hold('odd', { useCases: ['chat', 'rule the world'] });
    await hold('long', { useCases: ['chat'] });
    const long = JSON.stringify(manifestOf()).padEnd(65_537);
    await writeFile(join(source, 'long/capability.json'), long);
    await mkdir(join(source, 'piped'));
    execFileSync('mkfifo', [join(source, 'piped/capability.json')]);
    stage = await startCapabilities({ home, config: { capabilitySource: source } });
    const { body } = await stage.ask('GET', '/api/capabilities');
    expect(body.source.items.map(({ id }: { id: string }) => id)).to.equal(['gguf:house']);
  });

  it('that is not there is told', async () => {
    mirror = await startMirror(FILE);
    const source = join(home, 'away');
    stage = await startCapabilities({ home, config: { capabilitySource: source } });
    const { body } = await stage.ask('GET', '/api/capabilities');
    expect(body.source).to.equal({ path: source, fault: 'It does not exist', items: [] });
  });

  it('is where everything comes from, compared with its checksum', async () => {
    mirror = await startMirror(FILE);
    const source = await hold('house');
    const manifest = manifestOf();
    stage = await startCapabilities({ home, config: { capabilitySource: source } });
    expect((await stage.install(wanted())).status).to.equal('completed');
    expect(mirror.got).to.equal([]);
    await stage.ask('DELETE', '/api/capabilities/house');
    await writeFile(join(source, 'house/model.gguf'), Buffer.alloc(FILE.length));
    const forged = await stage.install(wanted());
    expect([forged.status, await stage.partial()]).to.equal(['failed', []]);
    expect(forged.error).to.contain(`does not have the SHA-256 ${SHA}`);
    const [file] = manifest.files;
    await hold('house', { files: [{ ...file, path: 'model-00001-of-00001.gguf' }] });
    await writeFile(join(source, 'house/model-00001-of-00001.gguf'), FILE);
    const renamed = await stage.install(wanted());
    expect([renamed.status, renamed.error]).to.equal([
      'failed',
      `The file model.gguf is missing from the folder ${source}/house. Export the capability again`,
    ]);
    const none = (slug: string): string =>
      `${source} has no ${slug}. Export it on a machine with internet access: adjutant capabilities export ${slug} --to <folder>`;
    for (const path of ['\n/../../../pwned', '../x', 'a/../../x', '/etc/x', 'a\\b']) {
      await hold('house', { files: [{ ...file, path }] });
      expect((await stage.install(wanted())).error).to.equal(none('house'));
    }
    const absent = await stage.install({ id: 'gguf:other', url: mirror.url, sha256: SHA });
    expect(absent.error).to.equal(none('other'));
  });
});
