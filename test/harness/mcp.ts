import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { projectRoot } from './sources.js';

const PACKAGES = join(projectRoot(), 'node_modules');
const SERVERS = join(PACKAGES, '@modelcontextprotocol');

/** Registers the real `server-filesystem` over stdio, with its own folder only. */
export const FILESYSTEM = {
  command: 'node',
  args: [join(SERVERS, 'server-filesystem/dist/index.js'), '.'],
  readable: [PACKAGES],
};

/** Folder with the odd server, and its registration. */
export interface Odd {
  server(...mode: ('pause' | 'die')[]): { command: string; args: string[]; readable: string[] };
  remove(): Promise<void>;
}

export const installOddServer = async (): Promise<Odd> => {
  const folder = await mkdtemp(join(tmpdir(), 'adjutant-odd-'));
  const script = join(folder, 'server.mjs');
  await copyFile(new URL('./oddserver.js', import.meta.url), script);
  return {
    server: (...mode) => ({ command: 'node', args: [script, ...mode], readable: [folder] }),
    remove: () => rm(folder, { recursive: true }),
  };
};

/** The real `server-everything` over streamable HTTP, as a process. */
export interface Everything {
  url: string;
  address: string;
  called(): Promise<void>;
  kill(): Promise<void>;
}

export const startEverything = async (port?: number): Promise<Everything> => {
  const at = port ?? (await freePort());
  const script = join(SERVERS, 'server-everything/dist/index.js');
  const child = spawn(process.execPath, [script, 'streamableHttp'], {
    env: { PORT: String(at), PATH: process.env.PATH ?? '', CANARY: 'of the server' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines = createInterface({ input: child.stdout });
  await said(child, 'listening');
  return {
    url: `http://127.0.0.1:${at}/mcp`,
    address: `127.0.0.1:${at}`,
    called: () =>
      new Promise((resolve) => {
        const look = (line: string): void => {
          if (!line.includes('Received MCP POST')) return;
          lines.off('line', look);
          resolve();
        };
        lines.on('line', look);
      }),
    kill: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
};

const said = async ({ stderr }: ChildProcess, word: string): Promise<void> => {
  if (!stderr) throw new Error('No stderr');
  for await (const line of createInterface({ input: stderr })) if (line.includes(word)) return;
  throw new Error('The server ended');
};

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (typeof address === 'string' || !address) throw new Error('No port');
  return address.port;
};
