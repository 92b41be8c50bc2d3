import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { checkCatalogue, createCatalogues } from '../../src/capabilities/catalogue.js';
import {
  type EngineHost,
  enginePackages,
  findNpmEngine,
  tesseractPackages,
} from '../../src/capabilities/packages.js';
import { planInstall } from '../../src/capabilities/plan.js';
import { createHttp } from '../../src/kernel/http.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const SHA = 'ab'.repeat(32);

const model = (over: object = {}) => ({
  id: 'tiny',
  family: 'Tiny',
  name: 'Tiny 1B',
  kind: 'chat',
  useCases: ['chat'],
  parameters: 1_000_000_000,
  activeParameters: null,
  architecture: null,
  contextWindow: 4096,
  licence: { id: 'mit', name: 'MIT License', url: 'https://example.org/mit', mustAccept: false },
  languages: ['en'],
  tools: false,
  ollama: 'tiny:1b',
  files: [
    { quantization: 'Q4_K_M', bytes: 700, sha256: SHA, url: 'https://example.org/tiny.gguf' },
  ],
  ...over,
});

const catalogue = (...models: object[]) => JSON.stringify({ date: '2026-11-01', models });

const host = { platform: 'linux', arch: 'x64', isGlibc: true, gpus: [] } as const;

describe('the catalogue', () => {
  const http = createHttp({ allow: [] });
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'catalogue-'));
  });
  after(async () => {
    await http.close();
    await rm(folder, { recursive: true });
  });

  it('that ships has models for every use, each with a file and a licence', async () => {
    const { catalogue: shipped, source, fault } = await createCatalogues(http, null)();
    expect([source, fault]).to.equal(['built in', null]);
    expect([...new Set(shipped.models.flatMap(({ useCases }) => useCases))].sort()).to.equal([
      'chat',
      'code',
      'embedding',
      'speech',
      'tools',
    ]);
    for (const { id, files, licence, architecture, kind } of shipped.models) {
      expect([id, files.length > 0, licence.name !== '']).to.equal([id, true, true]);
      expect([id, architecture !== null || kind === 'speech']).to.equal([id, true]);
      expect(files.every(({ url }) => url.startsWith('https://'))).to.be.true();
    }
  });

  it('may be replaced by a file, and says which is used', async () => {
    const path = join(folder, 'own.json');
    await writeFile(path, catalogue(model()));
    const { catalogue: own, source } = await createCatalogues(http, path)();
    expect([own.models.map(({ id }) => id), source]).to.equal([['tiny'], path]);
  });

  it('is no pipe, which nobody may ever fill, and no file without end', async () => {
    const pipe = join(folder, 'pipe.json');
    execFileSync('mkfifo', [pipe]);
    const long = join(folder, 'long.json');
    await writeFile(long, '');
    await truncate(long, 5 * 1024 * 1024);
    const linked = join(folder, 'linked.json');
    await symlink(join(folder, 'own.json'), linked);
    const faults = await Promise.all(
      [pipe, long, join(folder, 'none.json'), linked].map(
        async (path) => (await createCatalogues(http, path)()).fault,
      ),
    );
    expect(faults).to.equal([
      `${pipe}: is not a regular file`,
      `${long}: is larger than 4194304 bytes`,
      `${join(folder, 'none.json')}: is missing`,
      null,
    ]);
  });

  it('that is not valid is not used, and the reason is told', async () => {
    const path = join(folder, 'broken.json');
    await writeFile(path, catalogue(model({ id: '../../etc' })));
    const { source, fault } = await createCatalogues(http, path)();
    expect(source).to.equal('built in');
    expect(fault).to.contain(path).and.contain('models[0].id');
    const missing = await createCatalogues(http, join(folder, 'nowhere.json'))();
    expect(missing.fault).to.contain('nowhere.json');
  });

  it('of those that ship is valid', async () => {
    const path = new URL('../../src/capabilities/catalogue.json', import.meta.url);
    const shipped = await readFile(path, 'utf8');
    expect(checkCatalogue(shipped)).to.equal(JSON.parse(shipped));
  });

  it('names no package, version, lock file or script', () => {
    const file = model().files[0];
    const smuggled = [
      { ...JSON.parse(catalogue(model())), packages: { llama: '9.9.9' } },
      { ...JSON.parse(catalogue(model())), scripts: ['rm -rf /'] },
      JSON.parse(catalogue(model({ postinstall: 'node evil.js' }))),
      JSON.parse(catalogue(model({ files: [{ ...file, lock: {} }] }))),
      JSON.parse(catalogue(model({ version: '1.0.0' }))),
    ];
    for (const given of smuggled) {
      expect(checkCatalogue(JSON.stringify(given))).to.contain('is not allowed');
    }
    expect(checkCatalogue('{')).to.equal('the catalogue is not valid JSON');
    expect(checkCatalogue(catalogue(model(), model()))).to.contain('duplicate');
  });

  it('leads nowhere by the name of a quantization', () => {
    const [file] = model().files;
    for (const quantization of ['/../../../keys', '..', 'Q8_0/x', 'Q8 0', '']) {
      const found = checkCatalogue(catalogue(model({ files: [{ ...file, quantization }] })));
      expect([quantization, typeof found]).to.equal([quantization, 'string']);
    }
  });

  it('claims no more than a model may have', () => {
    const shape = {
      ...{ name: 'qwen3', layers: 1024, heads: 32, kvHeads: 8, keyLength: 128, valueLength: 128 },
      ...{ embeddingLength: 4096, feedForwardLength: 0, vocabulary: 0 },
      slidingWindow: { window: 4096, every: 0 },
    };
    const faultOf = (over: object) =>
      checkCatalogue(catalogue(model({ architecture: { ...shape, ...over } })));
    expect(faultOf({})).to.be.an.object();
    expect(faultOf({ layers: 1025 })).to.contain('layers');
    expect(faultOf({ heads: 4097 })).to.contain('heads');
    expect(faultOf({ keyLength: 10_000_000 })).to.contain('keyLength');
    expect(faultOf({ vocabulary: 2 ** 50 })).to.contain('vocabulary');
    expect(faultOf({ slidingWindow: { window: 1, every: 1025 } })).to.contain('every');
    expect(checkCatalogue(catalogue(model({ contextWindow: 2 ** 50 })))).to.contain(
      'contextWindow',
    );
    const [file] = model().files;
    const many = (id: string) => model({ id, files: Array.from({ length: 50 }, () => file) });
    const models = Array.from({ length: 19 }, (_, at) => many(`m${at}`));
    expect(checkCatalogue(catalogue(...models))).to.contain('models');
  });

  it('takes no name of anything else, and nothing but plain text', () => {
    const [file] = model().files;
    const licence = { id: 'mit', name: 'MIT', url: 'https://example.org', mustAccept: false };
    const refused = [
      { id: 'llama' },
      { id: 'tesseract-ita' },
      { id: 'tesseract', files: [{ ...file, quantization: 'ita' }] },
      { id: 'ollama-ok' },
      { id: 'whisper-base' },
      { id: 'base', kind: 'speech' },
      { name: 'Ti\u001b[31mny' },
      { name: 'Tiny \u202egnp.exe' },
      { files: [{ ...file, url: 'http://example.org/tiny.gguf' }] },
      { licence: { ...licence, url: 'javascript:alert(1)' } },
      { licence: { ...licence, url: 'http://example.org' } },
    ];
    for (const over of refused) {
      expect([over, typeof checkCatalogue(catalogue(model(over)))]).to.equal([over, 'string']);
    }
    const local = { files: [{ ...file, url: 'http://127.0.0.1:8080/tiny.gguf' }] };
    for (const over of [local, { id: 'llama-3' }, { id: 'whisper-base', kind: 'speech' }]) {
      expect(checkCatalogue(catalogue(model(over)))).to.be.an.object();
    }
    for (const date of ['2026-02-30', '2026-13-01', '0000-00-00']) {
      expect(checkCatalogue(JSON.stringify({ date, models: [] }))).to.contain('date');
    }
  });

  it('has no say in what the engine is', () => {
    const own = JSON.parse(catalogue(model({ id: 'llama' }))).models;
    const plan = planInstall({ id: 'llama' }, { models: own, host });
    expect('via' in plan && plan.via).to.equal('npm');
    expect('via' in plan && plan.version).to.equal('3.22.1');
  });
});

/** The packages of llama for a machine. */
const packagesOfLlama = (machine: EngineHost) => {
  const engine = findNpmEngine('llama');
  if (!engine) throw new Error('No such engine');
  return enginePackages(engine, machine);
};

describe('packages of the engine', () => {
  it('are those of the lock file that ships, and the program for this machine', () => {
    const found = packagesOfLlama(host);
    expect(found).to.include({
      version: '3.22.1',
      dependencies: { 'node-llama-cpp': '3.22.1', '@node-llama-cpp/linux-x64': '3.22.1' },
    });
    const locked = 'locked' in found ? Object.values(found.locked) : [];
    expect(locked.length).to.be.at.least(100);
    expect(locked.every(({ integrity }) => /^sha512-/.test(integrity))).to.be.true();
  });

  it('have a program for the GPU where there is one', () => {
    const gpu = { name: 'RTX', vramBytes: 1, driver: null, isUnified: false };
    const found = packagesOfLlama({ ...host, gpus: [{ ...gpu, vendor: 'nvidia' }] });
    expect('dependencies' in found && Object.keys(found.dependencies)).to.equal([
      'node-llama-cpp',
      '@node-llama-cpp/linux-x64',
      '@node-llama-cpp/linux-x64-cuda',
      '@node-llama-cpp/linux-x64-vulkan',
    ]);
  });

  it('are none where no program runs, with the reason', () => {
    expect(packagesOfLlama({ ...host, isGlibc: false })).to.equal({
      unsupported: 'the capability requires glibc, which this system does not have',
    });
    expect(packagesOfLlama({ ...host, arch: 'riscv64' })).to.equal({
      unsupported: 'no build is available for linux-riscv64',
    });
  });

  it('of a language are one package with its checksum', () => {
    expect(tesseractPackages('ita')?.dependencies).to.equal({ '@tesseract.js-data/ita': '1.0.0' });
    expect([tesseractPackages('klingon'), tesseractPackages('__proto__')]).to.equal([null, null]);
  });
});

describe('what an installation takes', () => {
  const models = JSON.parse(catalogue(model())).models;
  const plan = (wanted: { id: string; url?: string; sha256?: string }) =>
    planInstall(wanted, { models, host });

  it('is a file of the catalogue, and the engine for it', () => {
    expect(plan({ id: 'gguf:tiny' })).to.include({
      via: 'download',
      id: 'gguf:tiny:Q4_K_M',
      slug: 'tiny-q4_k_m',
      bytes: 700,
      needs: ['llama'],
      files: [
        { url: 'https://example.org/tiny.gguf', path: 'model.gguf', bytes: 700, sha256: SHA },
      ],
    });
  });

  it('is all parts of a file that is split', () => {
    const url = 'https://example.org/big-00001-of-00003.gguf';
    const found = plan({ id: 'gguf:big', url, sha256: SHA });
    expect('files' in found && found.files).to.equal([
      { url, path: 'model-00001-of-00003.gguf', bytes: null, sha256: SHA },
      {
        url: 'https://example.org/big-00002-of-00003.gguf',
        path: 'model-00002-of-00003.gguf',
        bytes: null,
        sha256: null,
      },
      {
        url: 'https://example.org/big-00003-of-00003.gguf',
        path: 'model-00003-of-00003.gguf',
        bytes: null,
        sha256: null,
      },
    ]);
  });

  it('is all parts of a file whose address has a query, too', () => {
    const url = 'https://example.org/big-00001-of-00002.gguf?download=true';
    const found = plan({ id: 'gguf:big', url, sha256: SHA });
    expect('files' in found && found.files.map((file) => file.url)).to.equal([
      url,
      'https://example.org/big-00002-of-00002.gguf?download=true',
    ]);
  });

  it('is shown without the query of its address, which may be a key', () => {
    const url = 'https://example.org/a.gguf?X-Amz-Signature=key';
    const found = plan({ id: 'gguf:a', url, sha256: SHA });
    expect('files' in found && [found.source, found.files[0]?.url]).to.equal([
      'https://example.org/a.gguf',
      url,
    ]);
  });

  it('is refused with the field that is wrong', () => {
    const url = 'https://example.org/a.gguf';
    const refused: [{ id: string; url?: string; sha256?: string }, string][] = [
      [{ id: 'nothing' }, 'id'],
      [{ id: 'gguf:unknown' }, 'id'],
      [{ id: 'gguf:tiny:Q9' }, 'id'],
      [{ id: 'gguf:../x', url, sha256: SHA }, 'id'],
      [{ id: 'gguf:llama', url, sha256: SHA }, 'id'],
      [{ id: 'gguf:hardware', url, sha256: SHA }, 'id'],
      [{ id: 'gguf:ollama-x', url, sha256: SHA }, 'id'],
      [{ id: 'gguf:a', url: 'http://127.0.0.1.example.org/a.gguf', sha256: SHA }, 'url'],
      [{ id: 'ollama:../../x y' }, 'id'],
      [{ id: 'tesseract:xx' }, 'id'],
      [{ id: 'llama', url }, 'url'],
      [{ id: 'gguf:a', url: 'http://example.org/a.gguf', sha256: SHA }, 'url'],
      [{ id: 'gguf:a', url: 'https://me:pw@example.org/a.gguf', sha256: SHA }, 'url'],
      [{ id: 'gguf:a', url: 'https://:pw@example.org/a.gguf', sha256: SHA }, 'url'],
      [{ id: 'gguf:a', url: 'file:///etc/passwd', sha256: SHA }, 'url'],
      [{ id: 'gguf:a', url }, 'sha256'],
    ];
    for (const [wanted, field] of refused) {
      const found = plan(wanted);
      expect([wanted.id, 'field' in found && found.field]).to.equal([wanted.id, field]);
    }
  });
});
