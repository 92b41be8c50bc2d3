import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Arguments of a fake program. */
export interface Started {
  args: string[];
  env: Record<string, string>;
  pid: number;
}

/** Folder of programs that print the output of the real ones, which cannot be used here. */
export interface FakePrograms {
  folder: string;
  /** A program that prints these lines and stays, or exits at once with `code`. */
  add(
    name: string,
    says: string[],
    more?: { code?: number; on?: 'stdout' | 'stderr' },
  ): Promise<void>;
  /** Starts so far, oldest first. */
  started(name: string): Promise<Started[]>;
  remove(): Promise<void>;
}

export const makeFakePrograms = async (): Promise<FakePrograms> => {
  const folder = await mkdtemp(join(tmpdir(), 'adjutant-standins-'));
  const logOf = (name: string): string => join(folder, `${name}.log`);
  return {
    folder,
    add: async (name, says, { code, on = 'stderr' } = {}) => {
      const path = join(folder, name);
      await writeFile(logOf(name), '');
      await writeFile(path, script(logOf(name), says, { code, on }));
      await chmod(path, 0o755);
    },
    started: async (name) => {
      const lines = (await readFile(logOf(name), 'utf8')).split('\n').filter(Boolean);
      return lines.map((line) => JSON.parse(line));
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
};

const script = (
  log: string,
  says: string[],
  { code, on }: { code: number | undefined; on: string },
): string => `#!${process.execPath}
const { appendFileSync } = require('node:fs');
const { argv, env, pid } = process;
if (/version/.test(argv[2])) {
  console.log('${log.split('/').at(-1)?.replace('.log', '')} version 2026.3.1 (built 2026-03-01)');
  process.exit(0);
}
appendFileSync(${JSON.stringify(log)}, JSON.stringify({ args: argv.slice(2), env, pid }) + '\\n');
process.${on}.write(${JSON.stringify(says.map((line) => `${line}\n`).join(''))}.replaceAll('{pid}', pid));
${code === undefined ? 'setInterval(() => {}, 1000);' : `process.exitCode = ${code};`}
`;

const stamp = '2026-03-01T12:00:01Z INF';

/** Output of cloudflared 2026.x to stderr. */
export const QUICK = [
  `${stamp} Thank you for trying Cloudflare Tunnel. Doing so, without a Cloudflare account, is a quick way to experiment and try it out.`,
  `${stamp} Requesting new quick Tunnel on trycloudflare.com...`,
  `${stamp} +--------------------------------------------------------------------------------------------+`,
  `${stamp} |  Your quick Tunnel has been created! Visit it at (it may take some time to be reachable):  |`,
  `${stamp} |  https://words-of-chance-{pid}.trycloudflare.com                                           |`,
  `${stamp} +--------------------------------------------------------------------------------------------+`,
  `${stamp} Registered tunnel connection connIndex=0 connection=0ff5a3b0-6a1e-4b5d-9f4b-8d6f2c1e7a90 event=0 ip=198.51.100.4 location=ams01 protocol=quic`,
];
export const NAMED = QUICK.slice(-1);

/** JSON log of ngrok 3 to stdout. */
export const NGROK = [
  '{"lvl":"info","msg":"no configuration paths supplied","t":"2026-03-01T12:00:00.000Z"}',
  '{"lvl":"info","msg":"client session established","obj":"tunnels.session","t":"2026-03-01T12:00:01.000Z"}',
  '{"addr":"http://127.0.0.1:3005","lvl":"info","msg":"started tunnel","name":"command_line","obj":"tunnels","t":"2026-03-01T12:00:01.000Z","url":"https://a1b2-192-0-2-1.ngrok-free.app"}',
];

/** Output of tailscale 1.52 and later to stdout. */
export const FUNNEL = [
  'Available on the internet:',
  '',
  'https://box.tail1234.ts.net/',
  '|-- proxy http://127.0.0.1:3005',
  '',
  'Press Ctrl+C to exit.',
];
