import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { placeEngine } from '../capabilities/stage.js';
import { type Owner, registerOwner } from '../harness/account.js';
import { startDaemon } from '../harness/daemon.js';
import { writeScriptedGguf } from '../harness/scriptedgguf.js';
import { median } from './load.js';
import { untilCompleted } from './operations.js';

const SERVER = fileURLToPath(new URL('./filemirror.js', import.meta.url));
const BYTES = 256 * 1024 * 1024;

export interface InstallFigures {
  /** A fetch of the file with its checksum, and nothing else. */
  plainMs: number;
  /** From the request until the model is installed: fetched, written, and read for its manifest. */
  installMs: number;
  /** The median of the ratios of each round. */
  ratio: number;
  /** The machine, and where each model of the catalogue would run on it. */
  fitMs: number;
  models: number;
}

/**
 * Measures the installation of a model of 256 MiB from a server on this machine, which is a process of
 * its own, beside a plain fetch of the same file in turns; and the fit of the whole catalogue.
 */
export const measureInstalls = async (rounds: number): Promise<InstallFigures> => {
  const home = await mkdtemp(join(tmpdir(), 'adjutant-bench-'));
  const path = join(home, 'served.gguf');
  writeScriptedGguf(path, [' Hello']);
  await truncate(path, BYTES);
  const mirror = fork(SERVER, [path]);
  const [{ url, entry }] = await once(mirror, 'message');
  await placeEngine(home);
  const daemon = await startDaemon({ home, env: { ADJUTANT_EGRESS_ALLOW: entry } });
  const owner = await registerOwner(daemon.url);
  const { sha256 } = await fetchPlainly(url);
  const turns: { plainMs: number; installMs: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    const { ms: plainMs } = await fetchPlainly(url);
    turns.push({ plainMs, installMs: await install(owner, { id: 'gguf:large', url, sha256 }) });
  }
  const fit = await fitCatalogue(owner, rounds);
  await daemon.end('SIGTERM');
  mirror.disconnect();
  await rm(home, { recursive: true, force: true });
  return {
    plainMs: median(turns.map(({ plainMs }) => plainMs)),
    installMs: median(turns.map(({ installMs }) => installMs)),
    ratio: median(turns.map(({ plainMs, installMs }) => installMs / plainMs)),
    ...fit,
  };
};

const fetchPlainly = async (url: string): Promise<{ ms: number; sha256: string }> => {
  const since = performance.now();
  const hash = createHash('sha256');
  const { body } = await fetch(url);
  for await (const piece of body ?? []) hash.update(piece);
  return { sha256: hash.digest('hex'), ms: performance.now() - since };
};

/** Installs a model and removes it again. Resolves to the milliseconds of its installation. */
const install = async (
  owner: Owner,
  body: { id: string; url: string; sha256: string },
): Promise<number> => {
  const since = performance.now();
  const { id } = await owner.capabilities.install({ body });
  await untilCompleted(owner, id);
  const ms = performance.now() - since;
  await owner.capabilities.delete({ slug: body.id.replace('gguf:', '') });
  return ms;
};

/** Asks for the fit of all models. The first answer, which measures the memory, does not count. */
const fitCatalogue = async (
  owner: Owner,
  rounds: number,
): Promise<Pick<InstallFigures, 'fitMs' | 'models'>> => {
  const ask = () => owner.capabilities.hardware({ query: {} });
  const { fit } = await ask();
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const since = performance.now();
    await ask();
    times.push(performance.now() - since);
  }
  return { fitMs: median(times), models: fit.length };
};
