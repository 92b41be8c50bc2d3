import { mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { frozenClock } from '../../../harness/clock.js';
import { withEngine } from '../../../harness/llamaengine.js';
import {
  endlessHeader,
  installFakeEngine,
  installScripted,
  modelFile,
  modelProcesses,
  notInstalled,
} from '../../../harness/llamahome.js';
import { type LlamaStage, llamaStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const SCRIPT = ['Hello', ' there'];

describe('a broken GGUF file (needs node-llama-cpp)', () => {
  let stage: LlamaStage;
  beforeEach(async () => {
    stage = await llamaStage();
  });
  afterEach(() => stage.close());

  it('that holds the engine up ends at the limit of a load', withEngine, async () => {
    writeFileSync(modelFile(stage.home, 'broken'), endlessHeader());
    const clock = frozenClock();
    stage.open({ clock });
    const failure = stage.failure('broken');
    await clock.waiting(30_000);
    clock.forward(30_000);
    expect(await failure).to.equal('timeout: broken was not loaded: it did not load within 30 s');
    expect(modelProcesses(stage.home)).to.equal([]);
  });

  it('that ends the engine names what it found', withEngine, async () => {
    installScripted(stage.home, 'broken', SCRIPT, { extraTokens: ['Hello'] });
    const failure = await stage.failure('broken');
    expect(failure).to.match(
      /^refused_connection: broken was not loaded: it was ended by SIGABRT: llama-vocab.cpp:\d+: GGML_ASSERT/,
    );
  });

  it('is refused at once after three times, until it is another file', withEngine, async () => {
    installScripted(stage.home, 'broken', SCRIPT, { extraTokens: ['Hello'] });
    const times: (string | null)[] = [];
    for (let time = 0; time < 4; time++) times.push(await stage.failure('broken'));
    expect(times.slice(0, 3).every((each) => each?.includes('was not loaded'))).to.be.true();
    expect(times[3]).to.match(
      /^refused_connection: broken was not loaded: its file failed 3 times \(it was ended by SIGABRT.*\)\. Verify an installed model: adjutant capabilities verify broken. Replace a file that you placed there yourself\. To try again, restart the daemon$/,
    );
    installScripted(stage.home, 'broken', SCRIPT);
    expect((await stage.step('broken')).text).to.equal('Hello there');
  });

  it('that ends too early is told of', withEngine, async () => {
    const path = installScripted(stage.home, 'broken', SCRIPT);
    truncateSync(path, 200_000);
    expect(await stage.failure('broken')).to.match(
      /^refused_connection: broken was not loaded: .+/,
    );
  });

  it('that counts more than there is does not take the memory', withEngine, async () => {
    const path = installScripted(stage.home, 'broken', SCRIPT);
    const bytes = readFileSync(path);
    bytes.writeBigUInt64LE(2n ** 40n, 8);
    bytes.writeBigUInt64LE(2n ** 40n, 16);
    writeFileSync(path, bytes);
    stage.open({ loadMs: 10_000 });
    expect(await stage.failure('broken')).to.match(
      /^(refused_connection|timeout): broken was not loaded: .+/,
    );
    expect(modelProcesses(stage.home)).to.equal([]);
  });
});

/** An engine that does something odd, in the place of node-llama-cpp. */
const ENGINE = (body: string) => `
import { writeSync } from 'node:fs';
let threads;
export class LlamaChat {
  chatWrapper = { generateContextState: () => ({ contextText: { tokenize: () => [1] } }) };
  async generateResponse(history, { onResponseChunk }) { ${body} }
}
const tokenMeter = { getState: () => ({}), diff: () => ({ usedOutputTokens: 1 }) };
const sequence = { contextSize: 100, tokenMeter };
const model = { trainContextSize: 100, createContext: async () => ({ getSequence: () => sequence }) };
export const getLlama = async ({ maxThreads }) => {
  threads = maxThreads;
  return { loadModel: async () => model };
};
`;

describe('an engine', () => {
  let stage: LlamaStage;
  beforeEach(async () => {
    stage = await llamaStage({ hasEngine: false });
    writeFileSync(modelFile(stage.home, 'any'), 'GGUF');
  });
  afterEach(() => stage.close());

  const install = (body: string): void => installFakeEngine(stage.home, ENGINE(body));

  it('that prints to its standard output disturbs no answer', async () => {
    install(`
      writeSync(1, '{"id":2,"is":"text","text":"printed"}\\n');
      onResponseChunk({ text: 'said' });
      return { metadata: { stopReason: 'eogToken' } };`);
    expect((await stage.step('any')).text).to.equal('said');
  });

  it('that breaks the protocol is ended', async () => {
    install(`writeSync(3, 'garbage\\n'); await new Promise(() => {});`);
    expect(await stage.failure('any')).to.equal('invalid_reply: any sent an invalid reply');
    expect(modelProcesses(stage.home)).to.equal([]);
  });

  it('that says what cannot be is ended', async () => {
    install(
      `writeSync(3, '{"id":2,"is":"vector","vector":["a"]}\\n'); await new Promise(() => {});`,
    );
    expect(await stage.failure('any')).to.equal('invalid_reply: any sent an invalid reply');
  });

  it('that fails says why, and lives', async () => {
    install(`throw new Error('No sequences left');`);
    expect(await stage.failure('any')).to.equal('server: any failed: No sequences left');
    expect(modelProcesses(stage.home)).to.have.length(1);
  });

  it('that fails with a path names the file alone', async () => {
    install(`
      const path = process.env.HOME + '/x.bin';
      throw new Error('In "' + path + '" and file:///C:/build/ggml.c:12, D:\\\\a\\\\llama.cpp, 5 tok/s');`);
    expect(await stage.failure('any')).to.equal(
      'server: any failed: In "x.bin" and ggml.c:12, llama.cpp, 5 tok/s',
    );
  });

  it('that cannot be read is named by its file', async () => {
    mkdirSync(join(stage.home, 'an engine'));
    installFakeEngine(join(stage.home, 'an engine'), 'import "./lost.js";');
    writeFileSync(modelFile(join(stage.home, 'an engine'), 'any'), 'GGUF');
    stage.open({ home: join(stage.home, 'an engine') });
    expect(await stage.failure('any')).to.match(
      /^refused_connection: any was not loaded: Cannot find module '[^ /]*lost.js' imported from [^ /]*index.js$/,
    );
  });

  it('has as many threads as run at full speed', async () => {
    stage.open({ threads: () => 3 });
    install(`
      onResponseChunk({ text: String(threads) });
      return { metadata: { stopReason: 'eogToken' } };`);
    expect((await stage.step('any')).text).to.equal('3');
  });

  it('that does not stop when it is told to is killed', async () => {
    install(`onResponseChunk({ text: 'on and' }); await new Promise(() => {});`);
    const stop = new AbortController();
    const asked = { signal: stop.signal, onText: () => stop.abort() };
    expect(await stage.failure('any', asked)).to.equal('aborted: The call of any was stopped');
    expect(modelProcesses(stage.home)).to.equal([]);
  });

  it('that says nothing is a model that is too slow', async () => {
    install(`await new Promise(() => {});`);
    const clock = frozenClock();
    stage.open({ clock });
    const failure = stage.failure('any');
    await clock.waiting(20_000);
    clock.forward(20_000);
    expect(await failure).to.equal('timeout: any sent no token within 20 s');
  });

  it('that takes too much memory ends as one failure, and other models answer', async () => {
    // It reserves what the limit leaves without touching it, so that the last small piece is refused.
    install(`
      if (JSON.stringify(history).includes('little')) {
        onResponseChunk({ text: 'said' });
        return { metadata: { stopReason: 'eogToken' } };
      }
      const held = [];
      for (let size = 2 ** 31; size > 1024; ) {
        if (held.length > 1000) throw new Error('There is no limit');
        try {
          held.push(new ArrayBuffer(size));
        } catch {
          size /= 2;
        }
      }
      for (;;) held.push(Array.from({ length: 1000 }, (_, at) => ({ at })));`);
    writeFileSync(modelFile(stage.home, 'other'), 'GGUF');
    // The least limit that a process gets: 2 GiB.
    stage.open({ memory: { freeBytes: async () => 0, neededBytes: async () => 0 } });
    expect(await stage.failure('any')).to.match(
      /^server: any stopped unexpectedly: it was ended by SIG(ABRT|TRAP|ILL|SEGV)/,
    );
    const turns = [{ role: 'user' as const, content: 'little' }];
    for (const slug of ['other', 'any']) {
      expect((await stage.step(slug, { turns })).text).to.equal('said');
    }
  });

  it('reaches no network, and no file of the home', async () => {
    install(`
      const { readdirSync } = await import('node:fs');
      const { networkInterfaces } = await import('node:os');
      const seen = [];
      try {
        seen.push(...readdirSync(process.env.HOME + '/../..'));
      } catch {
        seen.push('none');
      }
      onResponseChunk({ text: JSON.stringify([seen, Object.keys(networkInterfaces())]) });
      return { metadata: { stopReason: 'eogToken' } };`);
    writeFileSync(join(stage.home, 'adjutant.db'), 'secret');
    const { text } = await stage.step('any');
    expect(text).to.not.contain('adjutant.db');
    expect(JSON.parse(text)[1]).to.equal(['lo']);
  });

  it('that is not installed is named with its remedy', async () => {
    expect(await stage.failure('any')).to.equal(
      'refused_connection: any needs the engine llama (llama.cpp), which is not installed. Run: adjutant capabilities install llama',
    );
  });

  it('is not needed to say that a model is not installed', async () => {
    for (const slug of ['other', 'llama', '..', 'a/b']) {
      expect(await stage.failure(slug)).to.equal(`unknown_model: ${slug} ${notInstalled(slug)}`);
    }
  });
});
