import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { checkCatalogue, createCatalogues } from '../../src/capabilities/catalogue.js';
import { llamaPackages, tesseractPackages } from '../../src/capabilities/packages.js';
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

  it('that is not valid is not used, and the reason is told', async () => {
    const path = join(folder, 'broken.json');
    await writeFile(path, catalogue(model({ id: '../../etc' })));
    const { source, fault } = await createCatalogues(http, path)();
    expect(source).to.equal('built in');
    expect(fault).to.contain(path).and.contain('models[0].id');
    const missing = await createCatalogues(http, join(folder, 'nowhere.json'))();
    expect(missing.fault).to.contain('nowhere.json');
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
    expect(checkCatalogue('{')).to.equal('it is not JSON');
    expect(checkCatalogue(catalogue(model(), model()))).to.contain('duplicate');
  });

  it('leads nowhere by the name of a quantization', () => {
    const [file] = model().files;
    for (const quantization of ['/../../../keys', '..', 'Q8_0/x', 'Q8 0', '']) {
      const found = checkCatalogue(catalogue(model({ files: [{ ...file, quantization }] })));
      expect([quantization, typeof found]).to.equal([quantization, 'string']);
    }
  });

  it('has no say in what the engine is', () => {
    const own = JSON.parse(catalogue(model({ id: 'llama' }))).models;
    const plan = planInstall({ id: 'llama' }, { models: own, host });
    expect('via' in plan && plan.via).to.equal('npm');
    expect('via' in plan && plan.version).to.equal('3.22.1');
  });
});

describe('packages of the engine', () => {
  it('are those of the lock file that ships, and the program for this machine', () => {
    const found = llamaPackages(host);
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
    const found = llamaPackages({ ...host, gpus: [{ ...gpu, vendor: 'nvidia' }] });
    expect('dependencies' in found && Object.keys(found.dependencies)).to.equal([
      'node-llama-cpp',
      '@node-llama-cpp/linux-x64',
      '@node-llama-cpp/linux-x64-cuda',
      '@node-llama-cpp/linux-x64-vulkan',
    ]);
  });

  it('are none where no program runs, with the reason', () => {
    expect(llamaPackages({ ...host, isGlibc: false })).to.equal({
      unsupported: 'its programs need glibc, which this system does not have',
    });
    expect(llamaPackages({ ...host, arch: 'riscv64' })).to.equal({
      unsupported: 'there is no program of it here for linux-riscv64',
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
      [{ id: 'gguf:a', url: 'file:///etc/passwd', sha256: SHA }, 'url'],
      [{ id: 'gguf:a', url }, 'sha256'],
    ];
    for (const [wanted, field] of refused) {
      const found = plan(wanted);
      expect([wanted.id, 'field' in found && found.field]).to.equal([wanted.id, field]);
    }
  });
});
