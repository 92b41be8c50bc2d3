import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../app.js';
import { freePort, isListening } from './port.js';

/** A real proxy with a configuration printed by the product. */
export interface Front {
  /** Its output and log so far. */
  said(): string;
  stop(): Promise<void>;
}

const PLACES = { nginx: '/usr/sbin/nginx', caddy: '/usr/bin/caddy' };
export type Server = keyof typeof PLACES;

/** Why these tests cannot run here. `null` if they can. */
export const frontMissing = (server: Server): string | null => {
  if (!existsSync(PLACES[server])) return `${server} is not installed`;
  // nginx logs to the system's usual path.
  return process.getuid?.() === 0 ? null : `${server} is run as root here`;
};

export const startFront = async (
  server: Server,
  { text, port }: { text: string; port: number },
): Promise<Front> => {
  const folder = await mkdtemp(join(tmpdir(), `adjutant-${server}-`));
  const file = join(folder, server === 'nginx' ? 'adjutant.conf' : 'Caddyfile');
  await writeFile(file, text);
  const [program, args, env] =
    server === 'nginx' ? await nginx(folder, file) : await caddy(folder, file);
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env, cwd: folder });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (piece: string) => {
      said += piece;
    });
  }
  const over = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const isUp = async (): Promise<boolean> => {
    if (child.exitCode !== null) throw new Error(`${server} ended: ${said}`);
    return isListening(port);
  };
  await until(isUp, Boolean);
  return {
    said: () => said,
    stop: async () => {
      child.kill('SIGTERM');
      await over;
      await rm(folder, { recursive: true, force: true });
    },
  };
};

type Started = [string, string[], Record<string, string>];

/** Minimal nginx.conf around the file of conf.d. */
const nginx = async (folder: string, file: string): Promise<Started> => {
  const frame = join(folder, 'nginx.conf');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${join(folder, kind)};`,
  );
  await writeFile(
    frame,
    [
      ...['daemon off;', 'user root;', 'worker_processes 1;', `pid ${join(folder, 'pid')};`],
      ...['error_log stderr notice;', 'events { }', 'http {', ...temporary],
      ...[`include ${file};`, '}', ''],
    ].join('\n'),
  );
  return [PLACES.nginx, ['-p', folder, '-c', frame], { PATH: '/usr/bin' }];
};

/** The system's Caddy would keep its certificates and admin port. */
const caddy = async (folder: string, file: string): Promise<Started> => [
  PLACES.caddy,
  ['run', '--config', file, '--adapter', 'caddyfile'],
  {
    ...{ XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder, HOME: folder, PATH: '/usr/bin' },
    CADDY_ADMIN: `localhost:${await freePort()}`,
  },
];
