import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const FILE = {
  quantization: 'Q8_0',
  bytes: 1000,
  sha256: 'ab'.repeat(32),
  url: 'https://models.invalid/tiny.gguf',
};

/** Catalogue entry of a model with one file. */
export const catalogueModel = (over: object = {}, file: object = {}) => ({
  ...{ id: 'tiny', family: 'Tiny', name: 'Tiny', kind: 'chat', useCases: ['chat'] },
  ...{ parameters: 1000, activeParameters: null, architecture: null, contextWindow: 2048 },
  licence: { id: 'mit', name: 'MIT License', url: 'https://example.org/mit', mustAccept: false },
  ...{ languages: [], tools: false, ollama: null },
  files: [{ ...FILE, ...file }],
  ...over,
});

export const writeCatalogue = async (folder: string, models: object[]): Promise<string> => {
  const path = join(folder, 'catalogue.json');
  await writeFile(path, JSON.stringify({ date: '2026-11-01', models }));
  return path;
};
