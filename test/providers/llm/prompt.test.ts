import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { readPrompt } from '../../../src/providers/llm/prompt.js';

export const lab = Lab.script();
const { describe, it } = lab;

const LINE = '--- Webhook Payload ---';

describe('readPrompt()', () => {
  it('takes a prompt apart into task, payload and event', () => {
    expect(readPrompt(`Triage it.\n\n${LINE}\n{"a":1}\nEvent type: issues`)).to.equal({
      task: 'Triage it.',
      payload: '{"a":1}',
      event: 'issues',
    });
  });

  it('does without an event', () => {
    const payload = '{\n  "a": 1\n}';
    const read = readPrompt(`Triage it.\n\n${LINE}\n${payload}`);
    expect(read).to.equal({ task: 'Triage it.', payload, event: null });
  });

  it('keeps plain words as the task', () => {
    const task = `Explain the line "${LINE}" to me`;
    expect(readPrompt(` ${task}\n`)).to.equal({ task, payload: null, event: null });
  });

  it('takes an empty task and an empty payload', () => {
    expect(readPrompt(`${LINE}\n`)).to.equal({ task: '', payload: '', event: null });
    expect(readPrompt(LINE)).to.equal({ task: '', payload: '', event: null });
  });

  it('splits at the first line of separation, so that a payload cannot move it', () => {
    const payload = `text\n${LINE}\nmore`;
    const read = readPrompt(`Triage.\n\n${LINE}\n${payload}\nEvent type: a\nEvent type: b`);
    expect(read).to.equal({ task: 'Triage.', payload: `${payload}\nEvent type: a`, event: 'b' });
  });
});
