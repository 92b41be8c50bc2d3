import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { LLAMA_ENGINE } from './llamaengine.js';

export interface ReportedMemory {
  weights: number;
  /** KV caches and recurrent states. */
  cache: number;
  /** Compute buffers and the output buffer. */
  buffers: number;
}

export interface ModelLoad {
  path: string;
  contextSize: number;
}

const PROGRAM = fileURLToPath(new URL('./modelloads.js', import.meta.url));

/** Loads models with the real engine and returns the reported memory. */
export const loadedMemory = async (loads: ModelLoad[]): Promise<ReportedMemory[]> => {
  const entry = join(LLAMA_ENGINE, 'node_modules/node-llama-cpp/dist/index.js');
  const input = JSON.stringify({ entry: pathToFileURL(entry).href, loads });
  const child = spawn(process.execPath, [PROGRAM, input], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [reports, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (!reports) throw new Error(`The engine failed: ${errors.slice(-2000)}`);
  return JSON.parse(reports);
};
