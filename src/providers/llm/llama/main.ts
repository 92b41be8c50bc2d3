import { once } from 'node:events';
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { Worker } from 'node:worker_threads';
import { errorReason } from '../../../kernel/failure.js';
import { type LoadedChat, type LoadedVectors, loadModel } from './engine.js';
import { embed, generate } from './generate.js';
import type { LlamaEnd, LlamaInput, LlamaLine } from './protocol.js';

/** Maximum characters of an error of the engine. */
const MAX_MESSAGE_LENGTH = 300;

/**
 * Reads LlamaInput lines on stdin and writes LlamaLine lines to descriptor 3. Native code may print
 * to stdout.
 */
const main = async (): Promise<void> => {
  await watchParent();
  const output = new Socket({ fd: 3, readable: false, writable: true });
  output.on('error', () => process.exit());
  const write = (line: LlamaLine): void => void output.write(`${JSON.stringify(line)}\n`);
  const running = new Map<number, AbortController>();
  let loaded: LoadedChat | LoadedVectors | undefined;

  const answer = async (input: LlamaInput, signal: AbortSignal): Promise<LlamaEnd> => {
    const { id } = input;
    if (input.do === 'load') {
      loaded = await loadModel(input);
      return { is: 'loaded' };
    }
    if (input.do === 'generate' && loaded?.use === 'chat') {
      return generate(loaded, input, { signal, onText: (text) => write({ id, is: 'text', text }) });
    }
    if (input.do === 'embed' && loaded?.use === 'vectors') {
      return embed(loaded, input, {
        signal,
        onVector: (vector) => write({ id, is: 'vector', vector }),
      });
    }
    throw new Error('The model is not loaded for this kind of request');
  };

  const take = async (input: LlamaInput): Promise<void> => {
    const { id } = input;
    if (input.do === 'abort') {
      running.get(id)?.abort();
      return;
    }
    const abort = new AbortController();
    running.set(id, abort);
    const end = await answer(input, abort.signal).catch(failed);
    running.delete(id);
    write({ id, ...end });
  };

  for await (const line of createInterface({ input: process.stdin })) void take(JSON.parse(line));
  process.exit();
};

/** Wait for it, because its thread cannot load while this one is blocked. */
const watchParent = async (): Promise<void> => {
  const watch = new Worker(new URL('./parentwatch.js', import.meta.url));
  await once(watch, 'message');
  watch.unref();
};

const failed = (error: unknown): LlamaEnd => ({
  is: 'failed',
  fault: 'engine',
  message: errorReason(error).slice(0, MAX_MESSAGE_LENGTH),
});

await main();
