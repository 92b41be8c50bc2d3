import { execFile, spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { describeFiles } from '../../src/capabilities/installedmodels.js';
import { planInstall } from '../../src/capabilities/plan.js';
import { catalogueModel, writeCatalogue } from '../harness/catalogue.js';
import { startDaemon } from '../harness/daemon.js';
import { LLAMA_ENGINE, withEngine } from '../harness/llamaengine.js';
import { installCaller } from '../harness/llamahome.js';
import { sha256Of, startMirror } from './mirror.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const hasBubblewrap = spawnSync('bwrap', ['--version']).status === 0;
const OPTIONS = { skip: withEngine.skip || !hasBubblewrap };
const CLI = fileURLToPath(new URL('../../../bin/adjutant.js', import.meta.url));

/** Installs the engine as its installation does, from the one for the tests. */
const placeRealEngine = async (home: string): Promise<void> => {
  const folder = join(home, 'capabilities/llama');
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(LLAMA_ENGINE)) {
    await cp(join(LLAMA_ENGINE, name), join(folder, name), { recursive: true });
  }
  const host = { platform: process.platform, arch: process.arch, isGlibc: true, gpus: [] };
  const plan = planInstall({ id: 'llama' }, { models: [], host });
  if (!('via' in plan)) throw new Error(plan.fault);
  const { id, kind, name, version, source } = plan;
  const files = await describeFiles(folder, new AbortController().signal);
  const manifest = { ...{ id, kind, name, version, source, licence: 'MIT', useCases: [] }, files };
  const installedAt = '2026-11-01T00:00:00.000Z';
  await writeFile(join(folder, 'capability.json'), JSON.stringify({ ...manifest, installedAt }));
};

/** The steps of a person on a machine without a network, in a fresh home. */
const OFFLINE = `
set -eu
grep -v lo: /proc/net/dev | tail -n +3 > interfaces
node "$CLI" serve --port 4311 > daemon.log 2>&1 &
daemon=$!
trap 'kill $daemon; wait $daemon' EXIT
until grep -q listening daemon.log; do kill -0 $daemon; sleep 0.2; done
node "$CLI" register ada --password-file password > register.log
node "$CLI" models recommend --install --yes
node "$CLI" models list --json > models.json
node "$CLI" chat 'Late?' --json > chat.json
`;

describe('a machine without a network (needs node-llama-cpp and bubblewrap)', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'offline-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const run = (env: Record<string, string>, argv: string[], cwd: string) =>
    promisify(execFile)(argv[0] ?? '', argv.slice(1), {
      cwd,
      env: { PATH: process.env.PATH, HOME: cwd, XDG_CONFIG_HOME: join(cwd, '.config'), ...env },
      timeout: 240_000,
    });

  /** Makes the folder on a machine with a network; resolves to the catalogue. */
  const exportTo = async (usb: string): Promise<string> => {
    const call = { name: 'time_now', input: '{"timezone": "Europe/Oslo"}' };
    const made = await readFile(installCaller(folder, 'made', call, ['It is', ' late.'], 65_536));
    const mirror = await startMirror(made);
    const clock = { id: 'clock', name: 'Clock', tools: true, useCases: ['chat', 'tools'] };
    const file = { bytes: made.length, url: mirror.url, sha256: sha256Of(made) };
    const model = catalogueModel({ ...clock, contextWindow: 65_536 }, file);
    const path = await writeCatalogue(folder, [model]);
    const home = join(folder, 'online');
    await placeRealEngine(home);
    const env = { ADJUTANT_CATALOGUE: path, ADJUTANT_EGRESS_ALLOW: mirror.entry };
    const daemon = await startDaemon({ home, env });
    await writeFile(join(folder, 'password'), 'correct horse battery');
    const cli = (...words: string[]) =>
      run({ ADJUTANT_URL: daemon.url }, [process.execPath, CLI, ...words], folder);
    await cli('register', 'ada', '--password-file', 'password');
    await cli('capabilities', 'export', 'llama', 'gguf:clock', '--to', usb);
    await daemon.end('SIGTERM');
    await mirror.close();
    return path;
  };

  it('answers with tools after one command, from a folder of another', OPTIONS, async () => {
    const usb = join(folder, 'usb');
    const catalogue = await exportTo(usb);
    expect((await readdir(usb)).sort()).to.equal(['clock-q8_0', 'llama']);
    const away = join(folder, 'away');
    await mkdir(away);
    await cp(join(folder, 'password'), join(away, 'password'));
    const apart = ['bwrap', '--dev-bind', '/', '/', '--unshare-net', '--die-with-parent'];
    const env = {
      ...{ CLI, ADJUTANT_HOME: join(away, 'home'), ADJUTANT_URL: 'http://127.0.0.1:4311' },
      ...{ ADJUTANT_CATALOGUE: catalogue, ADJUTANT_CAPABILITY_SOURCE: usb },
    };
    const { stdout } = await run(env, [...apart, 'bash', '-c', OFFLINE], away);
    const read = (name: string) => readFile(join(away, name), 'utf8');
    expect(await read('interfaces')).to.equal('');
    expect(stdout).to.contain('clock-q8_0 is the default model');
    const { models } = JSON.parse(await read('models.json'));
    expect(models[0]).to.include({ name: 'clock-q8_0', provider: 'llama', isDefault: true });
    const answer = { status: 'completed', message: 'It is late.' };
    expect(JSON.parse(await read('chat.json'))).to.include(answer);
  });
});
