import { setTimeout as later } from 'node:timers/promises';
import type { ModelLoad, ReportedMemory } from './loadedmodel.js';

/**
 * Loads models with the real engine one after the other, in a process of its own. Its argument is
 * JSON with the engine's module and the models. Writes what llama.cpp reports about each.
 */
const main = async (): Promise<void> => {
  const input: { entry: string; loads: ModelLoad[] } = JSON.parse(process.argv[2] ?? '');
  const { getLlama } = await import(input.entry);
  let lines: string[] = [];
  const llama = await getLlama({
    gpu: false,
    build: 'never',
    skipDownload: true,
    logLevel: 'debug',
    maxThreads: 2,
    logger: (_level: string, line: string) => lines.push(line),
  });
  /** The log lines of llama.cpp arrive one turn later. */
  const told = async (): Promise<string> => {
    await later(50);
    const log = lines.join('\n');
    lines = [];
    return log;
  };
  const reports: ReportedMemory[] = [];
  for (const { path, contextSize } of input.loads) {
    const model = await llama.loadModel({ modelPath: path, ignoreMemorySafetyChecks: true });
    const loaded = await told();
    const context = await model.createContext({ contextSize, ignoreMemorySafetyChecks: true });
    const opened = await told();
    await context.dispose();
    await model.dispose();
    reports.push({
      weights: sumOf(loaded, /\w model buffer size = +([\d.]+) MiB/g),
      cache: sumOf(opened, /\w (?:KV|RS) buffer size = +([\d.]+) MiB/g),
      buffers: sumOf(opened, /\w +(?:compute|output) buffer size = +([\d.]+) MiB/g),
    });
  }
  process.stdout.write(JSON.stringify(reports), () => process.exit(0));
};

const sumOf = (log: string, pattern: RegExp): number =>
  [...log.matchAll(pattern)].reduce((sum, [, size]) => sum + Number(size) * 1024 ** 2, 0);

await main();
