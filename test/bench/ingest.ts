import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Owner, registerOwner } from '../harness/account.js';
import { startDaemon } from '../harness/daemon.js';
import { residentMb } from './memory.js';
import { zipfLanguage } from './zipf.js';

const LOOK_MS = 200;
const FILE_BYTES = 1024 * 1024;
/** Longer than the idle process of the index stays. */
const IDLE_MS = 90_000;

/** The figures of a folder of texts that is read. */
export interface IngestFigures {
  megabytes: number;
  chunks: number;
  /** Chunks that became searchable per second, from the files on. */
  perSecond: number;
  /** The most memory of the daemon, without its children, in the first and the last quarter. */
  firstMb: number;
  lastMb: number;
  /** The most of all, and that at rest. */
  mostMb: number;
  restMb: number;
  /** The processes of the daemon that are left at rest. */
  children: number;
}

/** Has a daemon read a folder with texts of 1 MB each, and watches its memory. */
export const measureIngest = async (megabytes: number): Promise<IngestFigures> => {
  const scratch = await mkdtemp(join(tmpdir(), 'adjutant-bench-'));
  const [home, folder] = [join(scratch, 'home'), join(scratch, 'texts')];
  await mkdir(home);
  await writeTexts(folder, megabytes);
  const daemon = await startDaemon({ home, env: { ADJUTANT_KNOWLEDGE_ROOTS: folder } });
  try {
    const owner = await registerOwner(daemon.url);
    const sizes: number[] = [];
    const look = setInterval(async () => sizes.push(await residentMb(daemon.pid)), LOOK_MS);
    const since = performance.now();
    await readFolder(owner, folder).finally(() => clearInterval(look));
    const tookMs = performance.now() - since;
    const { chunks } = await owner.knowledge.stats();
    await pause(IDLE_MS);
    const quarter = Math.ceil(sizes.length / 4);
    return {
      megabytes,
      chunks,
      perSecond: (1000 * chunks) / tookMs,
      firstMb: Math.max(...sizes.slice(0, quarter)),
      lastMb: Math.max(...sizes.slice(-quarter)),
      mostMb: Math.max(...sizes),
      restMb: await residentMb(daemon.pid),
      children: await childrenOf(daemon.pid),
    };
  } finally {
    await daemon.end('SIGKILL');
    await rm(scratch, { recursive: true, force: true });
  }
};

const writeTexts = async (folder: string, count: number): Promise<void> => {
  await mkdir(folder);
  const language = zipfLanguage(7);
  for (let at = 0; at < count; at++) {
    let text = '';
    while (text.length < FILE_BYTES) text += `${language.text(40)}\n\n`;
    await writeFile(join(folder, `text-${at}.txt`), text.slice(0, FILE_BYTES));
  }
};

const readFolder = async (owner: Owner, path: string): Promise<void> => {
  const { id } = await owner.knowledge.index({ body: { path, type: 'directory' } });
  for (;;) {
    const { status, error } = await owner.operations.get({ id });
    if (status === 'completed') return;
    if (status !== 'queued' && status !== 'running') throw new Error(`It ${status}: ${error}`);
    await pause(1000);
  }
};

/** Counts the processes whose parent is this one; 0 where there is no /proc. */
const childrenOf = async (parent: number): Promise<number> => {
  const names = await readdir('/proc').catch((): string[] => []);
  const stats = await Promise.all(
    names
      .filter((name) => /^\d+$/.test(name))
      .map((name) => readFile(`/proc/${name}/stat`, 'utf8').catch(() => '')),
  );
  // The command, in brackets, may hold spaces (proc(5)).
  const parents = stats.map((stat) => Number(stat.slice(stat.lastIndexOf(')')).split(' ')[2]));
  return parents.filter((each) => each === parent).length;
};
