import type { Clock } from '../kernel/clock.js';
import type { Machine } from '../providers/hardware/machine.js';
import type { LlamaMemory } from '../providers/llm/llama/memory.js';
import { findGgufFile } from './candidates.js';
import { computeModelMemory } from './fit/memory.js';
import type { HeaderReader } from './headers.js';
import type { InstalledModels } from './installedmodels.js';

interface NeedsDeps {
  clock: Clock;
  shelf: InstalledModels;
  headers: HeaderReader;
  machine(): Promise<Machine>;
}

const HEADER_MS = 30_000;

export const createMemoryNeeds = ({ clock, shelf, headers, machine }: NeedsDeps): LlamaMemory => ({
  freeBytes: async () => (await machine()).memory.availableBytes,
  neededBytes: async (slug, contextWindow) => {
    const found = await shelf.find(slug);
    const path = found && findGgufFile(found);
    if (!path) return null;
    const { header } = await headers(path, clock.deadline(HEADER_MS));
    return header && Math.round(computeModelMemory(header, { contextWindow }).totalBytes);
  },
});
