import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Operation } from '../../src/client/index.js';
import type { Config } from '../../src/config.js';
import { type Reply, startApp, type TestApp, until } from '../harness/app.js';

/** A daemon whose users may have a folder of the machine indexed. */
export interface FolderStage {
  app: TestApp;
  token: string;
  userId: string;
  /** The root, and a folder in it. */
  root: string;
  folder: string;
  /** Writes files below the folder, by their paths. */
  write(files: Record<string, string | Buffer>): Promise<void>;
  call(method: string, path: string, body?: unknown, token?: string): Promise<Reply>;
  /** Has something indexed, and waits for the end of the operation. */
  index(body: object, limitMs?: number): Promise<Operation>;
  /** Returns the titles of the entries that a search finds, in the order of the alphabet. */
  found(query: string, token?: string): Promise<string[]>;
  stop(): Promise<void>;
}

export const openFolderStage = async (config: Partial<Config> = {}): Promise<FolderStage> => {
  const root = await mkdtemp(join(tmpdir(), 'adjutant-root-'));
  const app = await startApp({ config: { knowledgeRoots: [root], ...config } });
  const { token, id: userId } = await app.register('ada');
  const folder = join(root, 'notes');
  await mkdir(folder);
  const call: FolderStage['call'] = (method, path, body, by = token) =>
    app.call(method, path, { token: by, body });
  return {
    app,
    token,
    userId,
    root,
    folder,
    write: async (files) => {
      for (const [path, content] of Object.entries(files)) {
        await mkdir(dirname(join(folder, path)), { recursive: true });
        await writeFile(join(folder, path), content);
      }
    },
    call,
    index: async (body, limitMs?) => {
      const begun = await call('POST', '/api/knowledge/index', body);
      if (begun.status !== 202) throw new Error(begun.text);
      const { body: ended } = await until(
        () => call('GET', `/api/operations/${begun.body.id}`),
        ({ body: { status } }) => status !== 'queued' && status !== 'running',
        limitMs,
      );
      return ended;
    },
    found: async (query, by) => {
      const asked = { query, limit: 50 };
      const { status, body, text } = await call('POST', '/api/knowledge/search', asked, by);
      if (status !== 200) throw new Error(text);
      return [...new Set<string>(body.results.map(({ title }: { title: string }) => title))].sort();
    },
    stop: async () => {
      await app.stop();
      await rm(root, { recursive: true, force: true });
    },
  };
};
