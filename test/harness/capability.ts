import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Kind and content of a test capability. */
interface PlacedFacts {
  kind?: 'model' | 'engine' | 'language';
  /** Content of `model.gguf`. */
  content?: Buffer;
}

export const placeCapability = async (
  home: string,
  slug: string,
  { kind = 'model', content = Buffer.from('not a model') }: PlacedFacts = {},
): Promise<string> => {
  const folder = join(home, 'capabilities', slug);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'model.gguf'), content);
  const sha256 = createHash('sha256').update(content).digest('hex');
  const manifest = {
    ...{ id: `gguf:${slug}`, kind, name: slug, version: null, licence: null },
    ...{ source: 'a test', useCases: [], installedAt: '2026-11-01T00:00:00.000Z' },
    files: [{ path: 'model.gguf', bytes: content.length, sha256 }],
  };
  await writeFile(join(folder, 'capability.json'), JSON.stringify(manifest));
  return slug;
};
