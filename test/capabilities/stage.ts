import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Reply, startApp, type TestApp, type TestOptions, until } from '../harness/app.js';
import { engineFolder } from '../harness/llamaengine.js';
import { writeScriptedGguf } from '../harness/scriptedgguf.js';

/** A daemon with an admin, in whose hands its capabilities are. */
export interface CapabilityStage extends TestApp {
  token: string;
  ask(method: string, path: string, body?: unknown): Promise<Reply>;
  /** Begins an installation, and returns the operation as it has ended. */
  install(body: object): Promise<Reply['body']>;
  /** Waits for the end of an operation, and returns it. */
  ended(id: string): Promise<Reply['body']>;
  /** Returns the capability with that id; undefined if it is not listed. */
  listed(id: string): Promise<Reply['body']>;
  /** Lists what is left of installations that are not complete. */
  partial(): Promise<string[]>;
}

export const startCapabilities = async (options: TestOptions): Promise<CapabilityStage> => {
  const app = await startApp(options);
  const { token } = await app.register('owner');
  const ask = (method: string, path: string, body?: unknown) =>
    app.call(method, path, { token, ...(body !== undefined && { body }) });
  const ended = (id: string) =>
    until(
      async () => (await ask('GET', `/api/operations/${id}?wait=5`)).body,
      ({ status }) => !['queued', 'running'].includes(status),
    );
  return Object.assign(Object.create(app), {
    token,
    ask,
    ended,
    install: async (body: object) => {
      const reply = await ask('POST', '/api/capabilities/install', body);
      if (reply.status !== 202) throw new Error(`${reply.status} ${reply.text}`);
      return ended(reply.body.id);
    },
    listed: async (id: string) =>
      (await ask('GET', '/api/capabilities')).body.capabilities.find(
        (each: { id: string }) => each.id === id,
      ),
    partial: () => readdir(join(app.home, 'capabilities', '.partial')).catch(() => []),
  });
};

/** Puts an engine in its place, as its installation does. It is the real one if that is there. */
export const placeEngine = async (home: string, slug = 'llama'): Promise<void> => {
  const folder = join(home, 'capabilities', slug);
  await mkdir(folder, { recursive: true });
  await symlink(join(engineFolder(slug), 'node_modules'), join(folder, 'node_modules'));
  const manifest = {
    ...{ id: slug, kind: 'engine', name: `${slug}.cpp`, version: '3.22.1', licence: 'MIT' },
    ...{ source: 'npm', useCases: [], installedAt: '2026-11-01T00:00:00.000Z', files: [] },
  };
  await writeFile(join(folder, 'capability.json'), JSON.stringify(manifest));
};

/** A model that says a script, as bytes. */
export const scriptedModel = async (): Promise<Buffer> => {
  const folder = await mkdtemp(join(tmpdir(), 'scripted-'));
  const path = join(folder, 'model.gguf');
  writeScriptedGguf(path, [' Hello', ' there.']);
  const bytes = await readFile(path);
  await rm(folder, { recursive: true });
  return bytes;
};
