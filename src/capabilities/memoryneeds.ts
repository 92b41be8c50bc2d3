import type { Clock } from '../kernel/clock.js';
import type { Machine } from '../providers/hardware/machine.js';
import { damagedFileAdvice, NotLoaded } from '../providers/llm/llama/files.js';
import type { LlamaMemory } from '../providers/llm/llama/memory.js';
import { computeModelMemory } from './fit/memory.js';
import type { HeaderReader } from './headers.js';

interface NeedsDeps {
  clock: Clock;
  headers: HeaderReader;
  machine(): Promise<Machine>;
}

const HEADER_MS = 30_000;

export const createMemoryNeeds = ({ clock, headers, machine }: NeedsDeps): LlamaMemory => ({
  freeBytes: async () => (await machine()).memory.availableBytes,
  neededBytes: async (path, contextWindow) => {
    const { header, fault } = await headers(path, clock.deadline(HEADER_MS));
    if (!header) {
      throw new NotLoaded(
        'refused_connection',
        `was not loaded: ${fault}. ${damagedFileAdvice(path)}`,
      );
    }
    return Math.round(computeModelMemory(header, { contextWindow }).totalBytes);
  },
});
