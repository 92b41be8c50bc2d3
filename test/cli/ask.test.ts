import { PassThrough } from 'node:stream';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { Ask } from '../../cli/ask.js';
import { CliFault, Exit } from '../../cli/exit.js';
import type { CommonFlags } from '../../cli/invocation.js';
import { openEditor } from './editor.js';

export const lab = Lab.script();
const { describe, it } = lab;

const instead = '--name';

/** Questions at a terminal where those keys are pressed, each when it is asked for something. */
const at = (keys: string[], flags: CommonFlags = {}, isTTY = true) => {
  const stdin = Object.assign(new PassThrough(), { isTTY });
  const stderr = Object.assign(new PassThrough(), { isTTY });
  const stdout = Object.assign(new PassThrough(), { isTTY });
  const left = [...keys];
  const said: string[] = [];
  stderr.on('data', (piece: Buffer) => {
    said.push(piece.toString());
    if (/([:\]] |^ {2})$/.test(piece.toString()))
      setImmediate(() => stdin.write(left.shift() ?? ''));
  });
  return { ask: new Ask({ stdin, stdout, stderr }, flags), said: () => said.join('') };
};

const fault = async (asked: Promise<unknown>): Promise<unknown> => {
  const error = await asked.catch((caught: unknown) => caught);
  return error instanceof CliFault ? [error.exit, ...[error.message, ...error.next]] : error;
};

describe('Ask', () => {
  it('takes an answer, or what was offered', async () => {
    const { ask } = at(['ada\r', '\r']);
    expect(await ask.text({ ask: 'Name', instead })).to.equal('ada');
    expect(await ask.text({ ask: 'Name', instead, initial: 'bob' })).to.equal('bob');
  });

  it('asks again until the answer will do', async () => {
    const { ask, said } = at(['\r', 'ada\r']);
    const refuse = (given: string) => (given === '' ? 'A name is needed.' : undefined);
    expect(await ask.text({ ask: 'Name', instead, refuse })).to.equal('ada');
    expect(said()).to.contain('A name is needed.\n');
  });

  it('shows nothing of a hidden answer, not even its length', async () => {
    const { ask, said } = at(['secret\r']);
    expect(await ask.hidden({ ask: 'Password', instead })).to.equal('secret');
    expect(said()).to.equal('Password: ············\n');
  });

  it('draws a question once where it is read aloud', async () => {
    process.env.ADJUTANT_ACCESSIBLE = '1';
    try {
      const { ask, said } = at(['ada\n', 'secret\r']);
      expect(await ask.text({ ask: 'Name', instead })).to.equal('ada');
      expect(await ask.hidden({ ask: 'Password', instead })).to.equal('secret');
      expect(said()).to.equal('Name: Password: ············\n');
    } finally {
      delete process.env.ADJUTANT_ACCESSIBLE;
    }
  });

  it('takes lines until an empty one, also when they come at once', async () => {
    const { ask } = at(['one\rtwo\r\rbob\r']);
    expect(await ask.lines({ ask: 'Prompt', instead })).to.equal('one\ntwo');
    expect(await ask.text({ ask: 'Name', instead })).to.equal('bob');
  });

  it('goes on with what was typed in the editor, and comes back with it', async () => {
    const editor = await openEditor();
    try {
      await editor.script('s/tw/two\\n\\nthree/');
      const { ask, said } = at(['one\r', 'tw\u0018', 'four\r', '\r']);
      expect(await ask.lines({ ask: 'Prompt', instead })).to.equal('one\ntwo\n\nthree\nfour');
      expect(await editor.seen()).to.equal(['one\ntw']);
      expect(said()).to.contain('  one\n  two\n  \n  three\n');
      delete process.env.EDITOR;
      const without = at(['one\r', '\u0018', '\r']);
      expect(await without.ask.lines({ ask: 'Prompt', instead })).to.equal('one');
      expect(without.said()).to.contain('No editor is set. Set EDITOR');
    } finally {
      await editor.close();
    }
  });

  it('takes the number of a choice', async () => {
    const { ask } = at(['3\r', 'x\r', '2\r', '\r']);
    const question = { ask: 'Which?', instead, choices: ['one', 'two'] };
    expect([await ask.choose(question), await ask.choose(question)]).to.equal([1, 0]);
  });

  it('takes enter for the written choice alone, and no other word', async () => {
    const { ask } = at(['\r', '\r', 'sure\r', 'y\r']);
    const question = { ask: 'Sure?', instead };
    const answers = [await ask.agree(question, true), await ask.agree(question, false)];
    expect([...answers, await ask.agree(question, false)]).to.equal([true, false, true]);
  });

  it('does nothing unless a loss is confirmed', async () => {
    for (const answer of ['\r', 'n\r']) {
      expect(await fault(at([answer]).ask.confirm('Delete it?'))).to.equal([
        Exit.failed,
        'Not confirmed. Nothing was done.',
      ]);
    }
    await at(['y\r']).ask.confirm('Delete it?');
    await at([], { yes: true }, false).ask.confirm('Delete it?');
  });

  it('never asks without a terminal, nor with --no-input', async () => {
    const refusal = [
      Exit.usage,
      'Name is required, but there is no terminal to ask for the value. Add --name.',
    ];
    for (const { ask } of [at([], {}, false), at([], { input: false })]) {
      expect(await fault(ask.text({ ask: 'Name', instead }))).to.equal(refusal);
      expect(await fault(ask.hidden({ ask: 'Name', instead }))).to.equal(refusal);
      expect(await fault(ask.confirm('Delete it?'))).to.equal([
        Exit.usage,
        'Confirmation is required, but there is no terminal. Add --yes.',
      ]);
    }
  });

  it('ends with 130 on ^C and at the end of the input', async () => {
    for (const key of ['\u0003', '\u0004']) {
      const { ask } = at([key]);
      expect(await fault(ask.text({ ask: 'Name', instead }))).to.equal([Exit.interrupted, '']);
    }
  });
});
