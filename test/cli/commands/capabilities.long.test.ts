import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { sha256Of, startMirror } from '../../capabilities/mirror.js';
import { placeEngine } from '../../capabilities/stage.js';
import { placeCapability } from '../../harness/capability.js';
import { catalogueModel, writeCatalogue } from '../../harness/catalogue.js';
import { openWorld, type World } from '../world.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const FILES = ['Q4_K_M', 'Q8_0'].map((quantization, at) => ({
  ...{ quantization, bytes: 1000 + at, sha256: 'ab'.repeat(32) },
  url: `https://models.invalid/${quantization}.gguf`,
}));

describe('capabilities', () => {
  let world: World;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'capabilities-'));
    const speech = { id: 'whisper-tiny', name: 'Tiny', kind: 'speech', useCases: ['speech'] };
    const catalogue = await writeCatalogue(folder, [
      catalogueModel({ files: FILES, contextWindow: 2048 }),
      catalogueModel({ id: 'wide', name: 'Wide', contextWindow: 65_536, tools: true }),
      catalogueModel(speech, { quantization: 'F16' }),
      catalogueModel({ id: 'huge', name: 'Huge' }, { bytes: 9e14 }),
    ]);
    world = await openWorld({ config: { catalogue, capabilitySource: null } });
    await placeCapability(world.app.home, 'house');
  });
  after(async () => {
    await world.stop();
    await rm(folder, { recursive: true });
  });

  const idsOf = (stdout: string): string[] =>
    stdout.split('\n').flatMap((line) => line.split(/\s/)[0] || []);
  const list = async (...words: string[]) => {
    const { stdout, stderr } = await world.cli(['capabilities', 'list', ...words], {
      terminal: 100,
    });
    return { ids: idsOf(stdout), rows: stdout.split('\n'), stderr };
  };

  it('are listed in short: what is here, the first choices, and one row for all languages', async () => {
    const { ids, rows, stderr } = await list();
    expect(ids.slice(0, 2)).to.equal(['ID', 'node']);
    expect(ids).to.include(['house', 'tesseract:<language>', 'llama', 'ollama', 'claude']);
    const models = ids.filter((id) => /^(gguf|whisper):/.test(id));
    // The other one has a context that holds no agent’s tools.
    expect(models).to.equal(['gguf:wide:Q8_0', 'whisper:tiny:F16']);
    expect(ids.filter((id) => id.startsWith('tesseract')).length).to.equal(1);
    const languages = rows.find((row) => row.startsWith('tesseract:'));
    expect(languages).to.match(/^tesseract:<language> +language +available +\d+ of \d{2,}/);
    expect(stderr).to.include('3 more models and all languages: --all, or --kind model');
  });

  it('are listed whole with --all, of a kind, and in a pipe', async () => {
    const all = (await list('--all')).ids;
    expect(all).to.include(['gguf:tiny:Q4_K_M', 'whisper:tiny:F16', 'tesseract:ita']);
    expect((await list('--kind', 'language')).ids).to.include(['tesseract:ita', 'tesseract-eng']);
    const { stdout } = await world.cli(['capabilities', 'list']);
    expect(idsOf(stdout).sort()).to.equal(all.filter((id) => id !== 'ID').sort());
  });

  it('have a version or a quantization', async () => {
    const words = ['capabilities', 'list', '--fields', 'id,version,quantization'];
    const rows = (await world.cli(words)).stdout.split('\n');
    expect(rows).to.include('gguf:tiny:Q4_K_M\t\tQ4_K_M');
    expect(rows.find((row) => row.startsWith('node\t'))).to.equal(
      `node\t${process.versions.node}\t`,
    );
    expect((await list('--kind', 'model')).rows[0]).to.not.include('QUANTIZATION');
  });

  it('are fitted to the context that is asked for, and those with less are counted', async () => {
    const words = ['hardware', '--context-window', '32768'];
    const { stdout, stderr } = await world.cli(words, { terminal: 100 });
    const rows = stdout.split('\n');
    expect(rows.find((row) => row.startsWith('MODEL'))).to.match(/MEMORY.*CONTEXT/);
    const contextOf = (id: string) =>
      / (\d+) +MIT License/.exec(rows.find((row) => row.startsWith(id)) ?? '')?.[1];
    expect(['gguf:tiny:Q4', 'gguf:wide'].map(contextOf)).to.equal(['2048', '32768']);
    expect(stderr).to.include(
      'Memory is calculated for a context window of 32768 tokens. Models made for fewer tokens, shown with\ntheir own context window: 2 models.\n',
    );
    expect(rows.find((row) => row.startsWith('whisper:tiny:F16'))).to.include('first: speech');
    const all = await world.cli(['hardware', '--all'], { terminal: 100 });
    // One row of a family, though both of its files fit, and the first choice is marked.
    const tinies = (text: string) => idsOf(text).filter((id) => id.startsWith('gguf:tiny'));
    expect([tinies(stdout).length, tinies(all.stdout).length]).to.equal([1, 2]);
    expect(rows.filter((row) => /first: chat/.test(row)).length).to.equal(1);
  });

  it('show what decides on a terminal of 80 columns', async () => {
    const head = async (...words: string[]) =>
      (await world.cli(words, { terminal: 80 })).stdout
        .split('\n')
        .find((row) => /^(ID|MODEL|KIND|STATUS) /.test(row))
        ?.split(/ {2,}/);
    expect(await head('hardware')).to.include(['MODEL', 'SPEED', 'USE']);
    expect(await head('capabilities', 'list')).to.include(['ID', 'SIZE', 'LICENCE']);
    await world.cli(['capabilities', 'verify', 'house']);
    expect(await head('operations', 'list')).to.include(['STATUS', 'TITLE']);
  });

  it('are recommended for speech too', async () => {
    const words = ['models', 'recommend', '--use-case', 'speech'];
    const { code, stdout, stderr } = await world.cli(words, { terminal: 200, answers: ['n'] });
    expect([code, stdout.split('\n')[0]]).to.equal([0, 'Tiny F16  whisper:tiny:F16']);
    expect(stderr).to.match(/Install it: adjutant models recommend --install --use-case speech\n$/);
  });

  it('are recommended with the line that installs just that', async () => {
    const words = ['models', 'recommend', '--use-case', 'chat', '--context-window', '1024'];
    const { stderr } = await world.cli(words, { terminal: 200, answers: ['n'] });
    expect(stderr).to.match(
      /Install it: adjutant models recommend --install --context-window 1024 --use-case chat\n$/,
    );
  });

  it('are looked up before a question about them, and a model that uses one is named', async () => {
    const nothing = await world.cli(['capabilities', 'delete', 'hous'], { terminal: 100 });
    expect(nothing).to.equal({
      ...{ code: 1, stdout: '' },
      stderr:
        'No installed capability is named "hous".\nDid you mean: house\n' +
        'Installed capabilities: adjutant capabilities list --installed\n',
    });
    const body = { name: 'mine', provider: 'llama' as const, modelId: 'house' };
    await world.client.models.create({ body });
    const used = await world.cli(['capabilities', 'delete', 'mine']);
    expect([used.code, used.stderr.split('\n').slice(0, 2)]).to.equal([
      1,
      ['house is used by mine.', 'Delete the model first: adjutant models delete mine'],
    ]);
    const words = ['capabilities', 'delete', 'gguf:house', '--force'];
    const { code, stderr } = await world.cli(words, { terminal: 100, answers: ['n'] });
    await world.client.models.delete({ name: 'mine' });
    expect([code, stderr.split(' [y/N]')[0]?.slice(-51)]).to.equal([
      ...[1, 'Remove house and its files? mine will stop working.'],
    ]);
  });

  it('are deleted on a terminal with the model that uses one, after a question that names both', async () => {
    await placeCapability(world.app.home, 'hut');
    const body = { name: 'cosy', provider: 'llama' as const, modelId: 'hut' };
    await world.client.models.create({ body });
    const words = ['capabilities', 'delete', 'hut'];
    const kept = await world.cli(words, { terminal: 100, answers: ['n'] });
    expect([kept.code, kept.stderr.split(' [y/N]')[0]?.slice(-58)]).to.equal([
      ...[1, 'Remove hut and its files, and the model cosy that uses it?'],
    ]);
    const names = async () => (await world.client.models.list()).models.map(({ name }) => name);
    expect(await names()).to.include('cosy');
    const gone = await world.cli(words, { terminal: 100, answers: ['y'] });
    expect([gone.code, gone.stderr.split('\n').slice(-3)]).to.equal([
      ...[0, ['Deleted model: cosy', 'Removed: hut', '']],
    ]);
    expect(await names()).to.not.include('cosy');
    expect((await list('--installed')).ids).to.not.include('hut');
  });

  it('that are installed already are a success, which says how the context is changed', async () => {
    const again = await world.cli(['capabilities', 'install', 'gguf:house']);
    expect([again.code, again.stdout.split('\t').slice(0, 3)]).to.equal([
      ...[0, ['house', 'model', 'degraded']],
    ]);
    expect(again.stderr).to.match(/^house is already installed\.$/m);
    const body = {
      name: 'mine',
      provider: 'llama' as const,
      modelId: 'house',
      contextWindow: 4096,
    };
    await world.client.models.create({ body });
    const words = ['capabilities', 'install', 'gguf:house', '--use-case', 'chat'];
    const used = await world.cli([...words, '--context-window', '2048'], { terminal: 200 });
    const same = await world.cli([...words, '--context-window', '4096'], { terminal: 200 });
    await world.client.models.delete({ name: 'mine' });
    expect(used).to.equal({
      ...{ code: 0, stdout: '' },
      stderr:
        'house is already installed, and registered as mine.\n' +
        'The context window of mine is 4096 tokens. Change it:\n' +
        'adjutant models update mine --context-window 2048\n',
    });
    expect(same.stderr).to.equal('house is already installed, and registered as mine.\n');
  });

  it('are exported over nothing but an earlier export', async () => {
    const to = join(folder, 'stick');
    await mkdir(join(to, 'house'), { recursive: true });
    await mkdir(join(to, 'house.part'));
    for (const name of ['house', 'house.part']) await writeFile(join(to, name, 'thesis.txt'), 'T');
    const words = ['capabilities', 'export', 'house', '--to', to];
    const refused = await world.cli(words);
    expect([refused.code, refused.stdout, refused.stderr.split('\n')[0]]).to.equal([
      ...[1, ''],
      `${join(to, 'house')} already exists and is not an exported capability: the folder has no valid capability.json.`,
    ]);
    await rename(join(to, 'house'), join(to, 'mine'));
    for (const _ of ['fresh', 'again']) {
      const { code, stdout, stderr } = await world.cli(words);
      expect([code, stdout, stderr]).to.equal([
        ...[0, `${to}\n`, 'Copying house, 11 B\nCopied: house\n'],
      ]);
    }
    expect((await readdir(to)).sort()).to.equal(['house', 'house.part', 'mine']);
    expect((await readdir(join(to, 'house'))).sort()).to.equal(['capability.json', 'model.gguf']);
    const model = 'house/model.gguf';
    expect(await readFile(join(to, model), 'utf8')).to.equal(
      await readFile(join(world.app.home, 'capabilities', model), 'utf8'),
    );
    for (const name of ['mine', 'house.part'])
      expect(await readFile(join(to, name, 'thesis.txt'), 'utf8')).to.equal('T');
    const own = join(world.app.home, 'capabilities');
    const inside = await world.cli(['capabilities', 'export', 'house', '--to', own]);
    expect([inside.code, inside.stderr.split('\n')[0]]).to.equal([
      ...[1, `${own} is the capability folder of the daemon. Choose another folder.`],
    ]);
  });

  it('that do not fit are installed after a warning and a yes', async () => {
    const words = ['capabilities', 'install', 'gguf:huge'];
    const { code, stderr } = await world.cli(words, { terminal: 200, answers: ['n'] });
    expect(code).to.equal(1);
    expect(stderr).to.include(
      'The model does not fit the memory that is available now. The model needs ',
    );
    expect(stderr).to.include('Install it anyway? [y/N]');
    expect(stderr).to.match(/Not confirmed\. Nothing was installed\.\n$/);
    expect(
      (await world.client.operations.list({ query: { kind: 'capabilities.install' } })).operations,
    ).to.equal([]);
  });
});

describe('the folder to install from', () => {
  let world: World;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'usb-'));
    await placeCapability(folder, 'barn');
    world = await openWorld({ config: { capabilitySource: join(folder, 'capabilities') } });
  });
  after(async () => {
    await world.stop();
    await rm(folder, { recursive: true });
  });

  it('is listed with --source, and named under the list', async () => {
    const words = ['capabilities', 'list', '--source'];
    const { stdout, stderr } = await world.cli(words, { terminal: 200 });
    expect(stdout).to.match(/^gguf:barn +model +\S+ B +no$/m);
    const where = `All capabilities are installed from ${join(folder, 'capabilities')}.`;
    expect(stderr).to.include(where);
    const short = await world.cli(['capabilities', 'list'], { terminal: 200 });
    expect(short.stderr).to.include(where);
    expect(short.stdout).to.match(/^gguf:barn +model +missing/m);
  });
});

describe('a folder to install from that is missing', () => {
  let world: World;
  before(async () => {
    const capabilitySource = join(tmpdir(), 'no-such-folder');
    world = await openWorld({ config: { capabilitySource } });
  });
  after(() => world.stop());

  it('is told before anything is begun, and once under the machine', async () => {
    const { code, stderr } = await world.cli(['capabilities', 'install', 'gguf:qwen3-4b']);
    expect([code, stderr.split('\n').at(-3)]).to.equal([
      1,
      `Not installed: the source folder ${join(tmpdir(), 'no-such-folder')} cannot be read: It does not exist.`,
    ]);
    expect((await world.client.operations.list({ query: {} })).operations).to.equal([]);
    const shown = await world.cli(['hardware'], { terminal: 80 });
    expect(shown.stdout).to.not.include('gguf:');
    expect(shown.stderr.match(/cannot\s+be\s+used:\s+It\s+does\s+not\s+exist/g)?.length).to.equal(
      1,
    );
    const all = await world.cli(['hardware', '--all'], { terminal: 80 });
    expect(all.stdout).to.include('gguf:');
    expect((await world.cli(['hardware'])).stdout).to.include('gguf:');
  });
});

describe('an installation that is under way', () => {
  const FILE = Buffer.alloc(400_000, 'speech');
  let world: World;
  let folder: string;
  let mirror: Awaited<ReturnType<typeof startMirror>>;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'attach-'));
    mirror = await startMirror(FILE, { stallsAfter: 100_000 });
    const speech = { id: 'whisper-tiny', name: 'Tiny', kind: 'speech', useCases: ['speech'] };
    const file = { url: mirror.url, bytes: FILE.length, sha256: sha256Of(FILE) };
    const catalogue = await writeCatalogue(folder, [catalogueModel(speech, file)]);
    const config = { egressAllow: [mirror.entry], catalogue, capabilitySource: null };
    world = await openWorld({ config });
    await placeEngine(world.app.home, 'whisper');
  });
  after(async () => {
    mirror.release();
    await world.stop();
    await mirror.close();
    await rm(folder, { recursive: true });
  });

  it('is followed by a second one, is not listed as installed, and ends a question', async () => {
    const words = ['capabilities', 'install', 'whisper:tiny'];
    const first = await world.cli([...words, '--no-wait']);
    expect(first.code).to.equal(0);
    const listed = await world.cli(['capabilities', 'list', '--installed']);
    expect(listed.stdout).to.not.include('whisper-tiny');
    const left = await world.cli(words, { terminal: 120, answers: ['n'], until: / KiB of 391/ });
    expect(left.code).to.equal(130);
    expect(left.stderr).to.include('whisper:tiny is already being installed');
    expect(left.stderr).to.include('The operation continues.');
    // The answer does not come: the end of the operation is one.
    const attached = world.cli(words, {
      ...{ terminal: 120, until: / KiB of 391/ },
      at: { text: /Cancel it, too/, act: mirror.release },
    });
    const { code, stderr } = await attached;
    expect([code, stderr.split('\n').slice(-2)]).to.equal([
      ...[0, ['Done: whisper-tiny-q8_0 is installed.', '']],
    ]);
    const { operations } = await world.client.operations.list({ query: {} });
    expect(operations.map(({ status }) => status)).to.equal(['completed']);
  });
});
