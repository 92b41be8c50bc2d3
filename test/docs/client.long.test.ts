import { execFile } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { registerOwner } from '../harness/account.js';
import { startApp, type TestApp } from '../harness/app.js';
import { codeBlocks, readDocument } from '../harness/documents.js';
import { projectRoot } from '../harness/sources.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const SETTINGS = {
  compilerOptions: {
    ...{ target: 'ES2023', module: 'NodeNext', strict: true, types: ['node'] },
    ...{ rootDir: '.', outDir: 'out', noEmitOnError: true },
  },
  include: ['*.ts'],
};

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** An app of another project, with the package as npm packs it. */
describe('the typed client in the packed package', () => {
  let folder: string;
  let daemon: TestApp;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'adjutant-client-'));
    const packages = join(folder, 'node_modules');
    mkdirSync(packages);
    for (const name of readdirSync(join(projectRoot(), 'node_modules'))) {
      symlinkSync(join(projectRoot(), 'node_modules', name), join(packages, name));
    }
    const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
    const packed = await run('npm', pack, projectRoot());
    const [{ filename }] = JSON.parse(packed.stdout);
    mkdirSync(join(packages, 'adjutant'));
    const extract = ['-xzf', filename, '--strip-components=1', '-C', 'node_modules/adjutant'];
    expect((await run('tar', extract, folder)).code).to.equal(0);
    const [example] = codeBlocks(readDocument('docs/client.md')).filter(
      ({ language }) => language === 'ts',
    );
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(SETTINGS));
    writeFileSync(join(folder, 'example.ts'), example?.code ?? '');
    daemon = await startApp();
  });
  after(async () => {
    await daemon.stop();
    rmSync(folder, { recursive: true });
  });

  const run = (command: string, args: string[], cwd = folder, env = {}): Promise<Ended> =>
    new Promise((resolve) => {
      const options = { cwd, env: { ...process.env, ...env } };
      execFile(command, args, options, (error, stdout, stderr) => {
        resolve({ code: Number(error?.code ?? 0), stdout, stderr });
      });
    });
  const compile = (): Promise<Ended> =>
    run(process.execPath, ['node_modules/@typescript/native/bin/tsc', '--project', '.']);

  it('runs the example of the document', async () => {
    expect(await compile()).to.equal({ code: 0, stdout: '', stderr: '' });
    const owner = await registerOwner(daemon.url);
    const { token } = await owner.tokens.create({ body: { name: 'example' } });
    const env = { ADJUTANT_URL: daemon.url, ADJUTANT_TOKEN: token };
    const { code, stdout, stderr } = await run(process.execPath, ['out/example.js'], folder, env);
    const { agents } = await owner.agents.list();
    expect({ code, stdout, stderr }).to.equal({
      code: 0,
      stdout: `${agents[0]?.result}\n`,
      stderr: '',
    });
    const refused = await run(process.execPath, ['out/example.js'], folder, {
      ADJUTANT_URL: daemon.url,
    });
    expect([refused.code, refused.stderr.startsWith('401 ')]).to.equal([1, true]);
  });

  it('declares inputs and replies, and the version', async () => {
    const file = join(folder, 'typed.ts');
    writeFileSync(
      file,
      `import { version } from 'adjutant';
import { createClient } from 'adjutant/client';
const client = createClient({ url: 'http://127.0.0.1:1' });
export const wrong = () => client.tasks.create({ body: { titel: 'x' } });
export const names = async (): Promise<number[]> => (await client.hooks.list()).hooks.map(({ name }) => name);
console.log(version);
`,
    );
    const { code, stdout } = await compile();
    rmSync(file);
    expect(code).to.equal(1);
    expect(stdout.match(/^typed\.ts\(\d+,\d+\): error TS\d+/gm)).to.equal([
      'typed.ts(4,58): error TS2561',
      'typed.ts(5,53): error TS2322',
    ]);
    const { version } = JSON.parse(readFileSync(join(projectRoot(), 'package.json'), 'utf8'));
    const printed = await run(process.execPath, [
      ...['--input-type=module', '-e', "console.log((await import('adjutant')).version)"],
    ]);
    expect(printed.stdout).to.equal(`${version}\n`);
  });
});
