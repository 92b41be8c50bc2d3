import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { LLAMA_ENGINE, withEngine } from '../../../harness/llamaengine.js';
import { writeScriptedGguf } from '../../../harness/scriptedgguf.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

describe('a scripted GGUF model (needs node-llama-cpp)', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'adjutant-gguf-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('says its script and ends', withEngine, async () => {
    const path = join(folder, 'model.gguf');
    writeScriptedGguf(path, ['Hello', ' from a', ' real GGUF.']);
    expect(await said(path)).to.equal(['Hello', ' from a', ' real GGUF.']);
  });

  it('departs from its script where it is told to', withEngine, async () => {
    const path = join(folder, 'model.gguf');
    writeScriptedGguf(path, ['One', ' two', ' three'], { after: { One: '!', '!': ' three' } });
    expect(await said(path)).to.equal(['One', '!', ' three']);
  });
});

/** Asks the engine for a reply, and returns its tokens. */
const said = async (modelPath: string): Promise<string[]> => {
  const entry = join(LLAMA_ENGINE, 'node_modules/node-llama-cpp/dist/index.js');
  const { getLlama, LlamaChat } = await import(pathToFileURL(entry).href);
  const llama = await getLlama({
    gpu: false,
    build: 'never',
    skipDownload: true,
    logLevel: 'error',
    maxThreads: 1,
  });
  try {
    const model = await llama.loadModel({ modelPath });
    const context = await model.createContext({ threads: 1, contextSize: 512 });
    const chat = new LlamaChat({ contextSequence: context.getSequence() });
    const pieces: string[] = [];
    const history = [
      { type: 'user', text: 'Speak' },
      { type: 'model', response: [] },
    ];
    await chat.generateResponse(history, {
      maxTokens: 20,
      onTextChunk: (piece: string) => pieces.push(piece),
    });
    return pieces.filter((piece) => piece !== '');
  } finally {
    await llama.dispose();
  }
};
