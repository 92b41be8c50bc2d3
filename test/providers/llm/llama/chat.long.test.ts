import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { withEngine } from '../../../harness/llamaengine.js';
import { installScripted, modelProcesses } from '../../../harness/llamahome.js';
import { installClock, type LlamaStage, llamaStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const SCRIPT = ['Hello', ' from a', ' real GGUF.'];

describe('a model that runs here (needs node-llama-cpp)', () => {
  let stage: LlamaStage;
  beforeEach(async () => {
    stage = await llamaStage();
  });
  afterEach(() => stage.close());

  it('says its text in pieces, and counts its tokens', withEngine, async () => {
    installScripted(stage.home, 'parrot', SCRIPT);
    const pieces: string[] = [];
    const reply = await stage.step('parrot', { onText: (piece) => pieces.push(piece) });
    expect(pieces).to.equal(SCRIPT);
    expect(reply).to.equal({
      text: 'Hello from a real GGUF.',
      toolCalls: [],
      // <s> <|im_start|> ▁ user \n S p e a k <|im_end|> \n <|im_start|> ▁ assistant \n, in letters.
      usage: { inputTokens: 28, outputTokens: 4, costUsd: null },
      finish: 'stop',
    });
  });

  it(
    'counts all of a prompt, also where it has read the beginning before',
    withEngine,
    async () => {
      installScripted(stage.home, 'parrot', SCRIPT);
      const first = await stage.step('parrot');
      expect((await stage.step('parrot')).usage).to.equal(first.usage);
    },
  );

  it('ends at the limit of its output', withEngine, async () => {
    installScripted(stage.home, 'parrot', SCRIPT);
    const { text, finish, usage } = await stage.step('parrot', { maxOutputTokens: 2 });
    expect([text, finish, usage.outputTokens]).to.equal(['Hello from a', 'length', 2]);
  });

  it('ends where its context is full', withEngine, async () => {
    installClock(stage.home, 'clock');
    const { finish, usage } = await stage.step('clock', {}, 256);
    expect(finish).to.equal('length');
    expect(usage.inputTokens + usage.outputTokens).to.be.between(240, 257);
  });

  it('is not asked what does not fit into its context', withEngine, async () => {
    installScripted(stage.home, 'parrot', SCRIPT);
    const turns = [{ role: 'user' as const, content: 'x'.repeat(3000) }];
    expect(await stage.failure('parrot', { turns })).to.equal(
      'context_length: parrot was not called: the prompt has 3023 tokens, but the context window has 2048',
    );
  });

  it('stops when its caller does, and goes on living', withEngine, async () => {
    installClock(stage.home, 'clock');
    const stop = new AbortController();
    const asked = { signal: stop.signal, onText: () => stop.abort() };
    expect(await stage.failure('clock', asked)).to.equal('aborted: The call of clock was stopped');
    const [pid] = modelProcesses(stage.home);
    expect((await stage.step('clock', { maxOutputTokens: 2 })).text).to.equal('tick tock');
    expect(modelProcesses(stage.home)).to.equal([pid]);
  });
});
