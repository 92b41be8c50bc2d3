import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const NAMES = ['XDG_CONFIG_HOME', 'ADJUTANT_URL', 'ADJUTANT_TOKEN', 'ADJUTANT_HOME'];

/** A config folder of the test's own, and nothing in the environment that a CLI would read. */
export const openConfig = async (): Promise<{ folder: string; close(): Promise<void> }> => {
  const folder = await mkdtemp(join(tmpdir(), 'adjutant-cli-'));
  const before = NAMES.map((name): [string, string | undefined] => [name, process.env[name]]);
  for (const name of NAMES) delete process.env[name];
  process.env.XDG_CONFIG_HOME = folder;
  return {
    folder,
    close: async () => {
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
      await rm(folder, { recursive: true });
    },
  };
};
